/* The limit of the comparison: a chain of N unit masses on unit rods in space, its tensions by
 * elimination along the chain, DOP853 around it.
 *
 *     cc -O3 -march=native -ffast-math limit.c -lm -o limit && ./limit N ...
 *
 * prints one JSON line a row. Nothing is projected, decided or checked.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../peers/dop853_table.h"

static int n;
static double *rod, *diagonal, *beside, *right, *tension;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void accelerations(const double *restrict q, const double *restrict v, double *restrict a) {
    double before[3] = {0, 0, 0}, rate[3] = {0, 0, 0}, last[3] = {0, 0, 0};
    for (int i = 0; i < n; i++) {
        double length = 0, speed = 0, along = 0;
        for (int k = 0; k < 3; k++) {
            double d = q[3 * i + k] - before[k], w = v[3 * i + k] - rate[k];
            length += d * d, speed += w * w, along += d * last[k];
            rod[3 * i + k] = d, last[k] = d, before[k] = q[3 * i + k], rate[k] = v[3 * i + k];
        }
        diagonal[i] = (i ? 2 : 1) * length, beside[i] = -along;
        right[i] = speed - (i ? 0 : 9.81 * rod[2]);
    }
    double inverse = 1 / diagonal[0];
    tension[0] = inverse;
    for (int i = 1; i < n; i++) {
        double l = beside[i] * inverse;
        right[i] -= l * right[i - 1];
        tension[i] = inverse = 1 / (diagonal[i] - l * beside[i]);
    }
    double next = 0;
    for (int i = n - 1; i >= 0; i--) {
        if (i < n - 1) right[i] -= beside[i + 1] * next;
        tension[i] = next = right[i] * tension[i];
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            a[3 * i + k] = -tension[i] * rod[3 * i + k] +
                           (i < n - 1 ? tension[i + 1] * rod[3 * i + 3 + k] : 0) - (k == 2 ? 9.81 : 0);
}

static void rates(const double *y, double *dy) {
    memcpy(dy, y + 3 * n, 3 * n * sizeof *y);
    accelerations(y, y + 3 * n, dy + 3 * n);
}

static void begin(double *y) {
    double at[3] = {0, 0, 0};
    memset(y, 0, 6 * n * sizeof *y);
    for (int i = 0; i < n; i++) {
        double down = -0.3 - 0.5 * sin(0.7 * i), side = 0.3 * sin(1.1 * i);
        at[0] += cos(down) * cos(side), at[1] += cos(down) * sin(side), at[2] += sin(down);
        memcpy(y + 3 * i, at, sizeof at);
    }
}

static double *k[12], *z;

static void run(double *y, double tolerance) {
    int size = 6 * n;
    double t = 0, h = 1e-3;
    rates(y, k[0]);
    while (t < 1) {
        if (t + h > 1) h = 1 - t;
        for (int s = 1; s < 12; s++) {
            for (int i = 0; i < size; i++) {
                double x = 0;
                for (int r = 0; r < s; r++) x += A[s][r] * k[r][i];
                z[i] = y[i] + h * x;
            }
            rates(z, k[s]);
        }
        double e5 = 0, e3 = 0;
        for (int i = 0; i < size; i++) {
            double x = 0, five = 0, three = 0;
            for (int r = 0; r < 12; r++)
                x += B[r] * k[r][i], five += E5[r] * k[r][i], three += E3[r] * k[r][i];
            z[i] = y[i] + h * x;
            double scale = tolerance * (1 + fmax(fabs(y[i]), fabs(z[i])));
            e5 += five / scale * (five / scale), e3 += three / scale * (three / scale);
        }
        double error = e5 == 0 ? 0 : h * e5 / sqrt((e5 + 0.01 * e3) * size);
        if (error < 1) {
            t = h == 1 - t ? 1 : t + h;
            memcpy(y, z, size * sizeof *y);
            rates(y, k[0]);
            h *= error == 0 ? 10 : fmin(10, 0.9 * pow(error, -0.125));
        } else {
            h *= fmax(0.2, 0.9 * pow(error, -0.125));
        }
    }
}

int main(int count, char **arguments) {
    for (int at = 1; at < count; at++) {
        n = atoi(arguments[at]);
        if (n < 1) continue;
        double **lists[] = {&rod, &diagonal, &beside, &right, &tension, &z};
        for (int i = 0; i < 6; i++) *lists[i] = calloc(6 * n, sizeof(double));
        for (int s = 0; s < 12; s++) k[s] = calloc(6 * n, sizeof(double));
        double *y = calloc(6 * n, sizeof *y), *end = calloc(6 * n, sizeof *y);
        begin(end);
        run(end, 1e-13);
        begin(y);
        int calls = 20000000 / n / 20 + 1;
        double clock = now();
        for (int i = 0; i < calls; i++) y[0] += 1e-13, rates(y, z);
        printf("{\"row\": \"evaluate-%d\", \"seconds\": %.6e}\n", n, (now() - clock) / calls);
        for (double tolerance = 1e-4; tolerance > 1e-12; tolerance /= 10) {
            double best = 1e9, error = 0;
            for (int again = 0; again < 3; again++) {
                begin(y);
                clock = now();
                run(y, tolerance);
                best = fmin(best, now() - clock);
            }
            for (int i = 0; i < 3 * n; i++) error = fmax(error, fabs(y[i] - end[i]));
            if (error > 1e-8) continue;
            printf("{\"row\": \"travel-%d\", \"seconds\": %.6e, \"error\": %.1e}\n", n, best, error);
            break;
        }
        fflush(stdout);
    }
}
