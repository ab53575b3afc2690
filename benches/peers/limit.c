/* The limit of the comparison with peers: accelerations eliminated by hand, DOP853 around them.
 *
 *     cc -O3 -march=native -ffast-math limit.c -lm -o limit && ./limit [ROW ...]
 *
 * prints one JSON line a row, as the other programs do, with --precision those of all tolerances. Steps are controlled as in SciPy. Nothing
 * is projected, decided or checked.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dop853_table.h"

#define MOST 14

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* --- the problems: accelerations of q and v ------------------------------------------------ */

static inline void spherical(const double *q, const double *v, double *a) {
    double r2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2];
    double v2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    double mu = (9.81 * q[2] - v2) / r2;
    a[0] = mu * q[0];
    a[1] = mu * q[1];
    a[2] = mu * q[2] - 9.81;
}

static inline void knife_edge(const double *q, const double *v, double *a) {
    double s = sin(q[2]), c = cos(q[2]);
    double along = 0.5 * v[2] * v[2], across = (v[0] * c + v[1] * s) * v[2];
    a[0] = along * c - across * s;
    a[1] = along * s + across * c;
    a[2] = -across;
}

static inline void two_particles(const double *q, const double *v, double *a) {
    double dx = q[0] - q[2], dy = q[1] - q[3], wx = v[0] - v[2], wy = v[1] - v[3];
    double r = 1 / (dx * dx + dy * dy), g = 4.905;
    double m1 = (dy * g - wx * v[0] - wy * v[1]) * r, m2 = (dy * g - wx * v[2] - wy * v[3]) * r;
    a[0] = m1 * dx;
    a[1] = m1 * dy - g;
    a[2] = m2 * dx;
    a[3] = m2 * dy - g;
}

/* The free top: e' = e w / 2 and Euler's equations, written for the second derivative of e. */
static inline void euler_top(const double *e, const double *v, double *a) {
    double p = 2 * (-e[1] * v[0] + e[0] * v[1] + e[3] * v[2] - e[2] * v[3]);
    double q = 2 * (-e[2] * v[0] - e[3] * v[1] + e[0] * v[2] + e[1] * v[3]);
    double r = 2 * (-e[3] * v[0] + e[2] * v[1] - e[1] * v[2] + e[0] * v[3]);
    double dp = -q * r, dq = r * p, dr = -p * q / 3;
    a[0] = 0.5 * (-v[1] * p - v[2] * q - v[3] * r - e[1] * dp - e[2] * dq - e[3] * dr);
    a[1] = 0.5 * (v[0] * p + v[2] * r - v[3] * q + e[0] * dp + e[2] * dr - e[3] * dq);
    a[2] = 0.5 * (v[0] * q + v[3] * p - v[1] * r + e[0] * dq + e[3] * dp - e[1] * dr);
    a[3] = 0.5 * (v[0] * r + v[1] * q - v[2] * p + e[0] * dr + e[1] * dq - e[2] * dp);
}

/* Andrews' mechanism: one degree of freedom, velocities by three 2x2 systems in turn. */
static inline void andrews(const double *q, const double *v, double *a) {
    const double m1 = .04325, m2 = .00365, m3 = .02373, m4 = .00706, m5 = .07050, m6 = .00706,
                 m7 = .05498, xb = -.03635, yb = .03273, xc = .014, yc = .072, c0 = 4530,
                 i1 = 2.194e-6, i2 = 4.410e-7, i3 = 5.255e-6, i4 = 5.667e-7, i5 = 1.169e-5,
                 i6 = 5.667e-7, i7 = 1.912e-5, d = .028, da = .0115, e = .02, ea = .01421,
                 rr = .007, ra = .00092, l0 = .07785, ss = .035, sa = .01874, sb = .01043,
                 sc = .018, sd = .02, ta = .02308, tb = .00916, u = .04, ua = .01228,
                 ub = .00449, zf = .02, zt = .04, fa = .01421, mom = .033;
    double s[7], c[7];
    for (int i = 0; i < 7; i++) s[i] = sin(q[i]), c[i] = cos(q[i]);
    double sbt = s[0] * c[1] + c[0] * s[1], cbt = c[0] * c[1] - s[0] * s[1];
    double spd = s[3] * c[4] + c[3] * s[4], cpd = c[3] * c[4] - s[3] * s[4];
    double soe = s[5] * c[6] + c[5] * s[6], coe = c[5] * c[6] - s[5] * s[6];
    double l4 = e - ea, l6 = zf - fa;
    double bp = v[0], tp = v[1], gp = v[2], pp = v[3], dp = v[4], op = v[5], ep = v[6];
    double xd = sd * c[2] + sc * s[2] + xb - xc, yd = sd * s[2] - sc * c[2] + yb - yc;
    double length = sqrt(xd * xd + yd * yd), f = -c0 * (length - l0) / length;
    double Q[7] = {mom - m2 * da * rr * tp * (tp + 2 * bp) * s[1],
                   m2 * da * rr * bp * bp * s[1],
                   f * xd * (sc * c[2] - sd * s[2]) + f * yd * (sd * c[2] + sc * s[2]),
                   m4 * zt * l4 * dp * dp * c[3],
                   -m4 * zt * l4 * pp * (pp + 2 * dp) * c[3],
                   -m6 * u * l6 * ep * ep * c[5],
                   m6 * u * l6 * op * (op + 2 * ep) * c[5]};
    /* Rows: the crank's end, (gx, gy) by beta and (hx, hy) by theta, against three links. */
    double gx = -rr * s[0] + d * sbt, gy = rr * c[0] - d * cbt, hx = d * sbt, hy = -d * cbt;
    double w = bp + tp, bx = rr * c[0] * bp * bp - d * cbt * w * w,
           by = rr * s[0] * bp * bp - d * sbt * w * w;
    double N[7] = {1}, P[7] = {0};
    {
        double kx = -ss * c[2], ky = -ss * s[2], det = 1 / (hx * ky - kx * hy);
        double rx = bx - ss * s[2] * gp * gp, ry = by + ss * c[2] * gp * gp;
        N[1] = (gy * kx - gx * ky) * det;
        N[2] = (gx * hy - gy * hx) * det;
        P[1] = (rx * ky - ry * kx) * det;
        P[2] = (hx * ry - hy * rx) * det;
    }
    double nx = -gx - hx * N[1], ny = -gy - hy * N[1], px = bx - hx * P[1], py = by - hy * P[1];
    {
        double w2 = pp + dp, ax = -e * cpd, ay = -e * spd, cx = ax + zt * s[4], cy = ay - zt * c[4];
        double det = 1 / (ax * cy - cx * ay);
        double rx = px - e * spd * w2 * w2 - zt * c[4] * dp * dp;
        double ry = py + e * cpd * w2 * w2 - zt * s[4] * dp * dp;
        N[3] = (nx * cy - ny * cx) * det;
        N[4] = (ax * ny - ay * nx) * det;
        P[3] = (rx * cy - ry * cx) * det;
        P[4] = (ax * ry - ay * rx) * det;
    }
    {
        double w3 = op + ep, ax = zf * soe, ay = -zf * coe, cx = ax - u * c[6], cy = ay - u * s[6];
        double det = 1 / (ax * cy - cx * ay);
        double rx = px - zf * coe * w3 * w3 - u * s[6] * ep * ep;
        double ry = py - zf * soe * w3 * w3 + u * c[6] * ep * ep;
        N[5] = (nx * cy - ny * cx) * det;
        N[6] = (ax * ny - ay * nx) * det;
        P[5] = (rx * cy - ry * cx) * det;
        P[6] = (ax * ry - ay * rx) * det;
    }
    double M01 = m2 * (da * da - da * rr * c[1]) + i2, M11 = m2 * da * da + i2;
    double M00 = m1 * ra * ra + m2 * (rr * rr - 2 * da * rr * c[1] + da * da) + i1 + i2;
    double M22 = m3 * (sa * sa + sb * sb) + i3, M33 = m4 * l4 * l4 + i4;
    double M34 = m4 * (l4 * l4 + zt * l4 * s[3]) + i4;
    double M44 = m4 * (zt * zt + 2 * zt * l4 * s[3] + l4 * l4) + m5 * (ta * ta + tb * tb) + i4 + i5;
    double M55 = m6 * l6 * l6 + i6, M56 = m6 * (l6 * l6 - u * l6 * s[5]) + i6;
    double M66 = m6 * (l6 * l6 - 2 * u * l6 * s[5] + u * u) + m7 * (ua * ua + ub * ub) + i6 + i7;
#define TIMES(X, x)                                                                               \
    double X[7] = {M00 * x[0] + M01 * x[1], M01 * x[0] + M11 * x[1], M22 * x[2],                  \
                   M33 * x[3] + M34 * x[4], M34 * x[3] + M44 * x[4], M55 * x[5] + M56 * x[6],     \
                   M56 * x[5] + M66 * x[6]}
    TIMES(MN, N);
    TIMES(MP, P);
    double mass = 0, force = 0;
    for (int i = 0; i < 7; i++) mass += N[i] * MN[i], force += N[i] * (Q[i] - MP[i]);
    for (int i = 0; i < 7; i++) a[i] = N[i] * (force / mass) + P[i];
}

/* The planar pendulum of n equal links in angles (m = 1, l = 0.5), dense LDL'. */
static inline void links(int n, const double *th, const double *w, double *a) {
    static double M[50][50], s[50], c[50];
    for (int i = 0; i < n; i++) s[i] = sin(th[i]), c[i] = cos(th[i]);
    for (int i = 0; i < n; i++) {
        double f = -(n - i) * 9.81 * 0.5 * s[i];
        for (int j = 0; j < n; j++) {
            double m = 0.25 * (n - (i > j ? i : j));
            f -= m * (s[i] * c[j] - c[i] * s[j]) * w[j] * w[j];
            if (j <= i) M[i][j] = m * (c[i] * c[j] + s[i] * s[j]);
        }
        a[i] = f;
    }
    for (int j = 0; j < n; j++) {
        double y[50], d = M[j][j];
        for (int k = 0; k < j; k++) y[k] = M[j][k] * M[k][k], d -= M[j][k] * y[k];
        M[j][j] = d;
        double r = 1 / d;
        for (int i = j + 1; i < n; i++) {
            double x = M[i][j];
            for (int k = 0; k < j; k++) x -= M[i][k] * y[k];
            M[i][j] = x * r;
        }
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++) a[i] -= M[i][k] * a[k];
    for (int i = 0; i < n; i++) a[i] /= M[i][i];
    for (int i = n - 1; i >= 0; i--)
        for (int k = i + 1; k < n; k++) a[i] -= M[k][i] * a[k];
}

/* --- DOP853 -------------------------------------------------------------------------------- */

/* One copy for each problem, so that its accelerations are inlined. */
#define INTEGRATOR(NAME, N)                                                                       \
    static inline void NAME##_rates(const double *y, double *dy) {                                \
        for (int i = 0; i < N; i++) dy[i] = y[N + i];                                             \
        NAME(y, y + N, dy + N);                                                                   \
    }                                                                                             \
    static long NAME##_run(double end, double *y, double tolerance) {                             \
        double k[12][2 * N], z[2 * N], t = 0, h;                                                  \
        long steps = 0;                                                                           \
        NAME##_rates(y, k[0]);                                                                    \
        h = first_step(2 * N, y, k[0], tolerance);                                                \
        while (t < end) {                                                                         \
            if (t + h > end) h = end - t;                                                         \
            for (int s = 1; s < 12; s++) {                                                        \
                for (int i = 0; i < 2 * N; i++) {                                                 \
                    double x = 0;                                                                 \
                    for (int r = 0; r < s; r++) x += A[s][r] * k[r][i];                           \
                    z[i] = y[i] + h * x;                                                          \
                }                                                                                 \
                NAME##_rates(z, k[s]);                                                            \
            }                                                                                     \
            double e5 = 0, e3 = 0;                                                                \
            for (int i = 0; i < 2 * N; i++) {                                                     \
                double x = 0, five = 0, three = 0;                                                \
                for (int r = 0; r < 12; r++)                                                      \
                    x += B[r] * k[r][i], five += E5[r] * k[r][i], three += E3[r] * k[r][i];       \
                z[i] = y[i] + h * x;                                                              \
                double size = tolerance * (1 + fmax(fabs(y[i]), fabs(z[i])));                     \
                e5 += five / size * (five / size), e3 += three / size * (three / size);           \
            }                                                                                     \
            double error = e5 == 0 ? 0 : h * e5 / sqrt((e5 + 0.01 * e3) * 2 * N);                 \
            if (error < 1) {                                                                      \
                t = h == end - t ? end : t + h;                                                   \
                memcpy(y, z, sizeof z);                                                           \
                NAME##_rates(y, k[0]);                                                            \
                steps++;                                                                          \
                h *= error == 0 ? 10 : fmin(10, 0.9 * pow(error, -0.125));                        \
            } else {                                                                              \
                h *= fmax(0.2, 0.9 * pow(error, -0.125));                                         \
            }                                                                                     \
        }                                                                                         \
        return steps;                                                                             \
    }

static double first_step(int n, const double *y, const double *dy, double tolerance) {
    double d0 = 0, d1 = 0;
    for (int i = 0; i < n; i++) {
        double size = tolerance * (1 + fabs(y[i]));
        d0 += y[i] / size * (y[i] / size), d1 += dy[i] / size * (dy[i] / size);
    }
    return d0 > 0 && d1 > 0 ? 0.01 * sqrt(d0 / d1) : 1e-6;
}

INTEGRATOR(spherical, 3)
INTEGRATOR(knife_edge, 3)
INTEGRATOR(two_particles, 4)
INTEGRATOR(euler_top, 4)
INTEGRATOR(andrews, 7)

/* --- rows ---------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a - *(const double *)b;
    return (x > 0) - (x < 0);
}

static double median(double *times, int n) {
    qsort(times, n, sizeof *times, compare);
    return times[n / 2];
}

struct motion {
    const char *name;
    long (*run)(double, double *, double);
    int n;
    double end, asked, start[MOST], right[7];
};

static const struct motion MOTIONS[] = {
    {"spherical", spherical_run, 3, 10, 1e-13,
     {0.84147098480789650665, 0, -0.54030230586813971740, 0, 1.5, 0},
     {-0.55783810643797464, 0.24026848993080375, -0.79441028426881851}},
    {"knife-edge", knife_edge_run, 3, 10, 3e-14, {0, 0, 0, 1, 0, 1},
     {8.3325471834963962, 8.6437027888296509, 0.87041543865579523}},
    {"two-particles", two_particles_run, 4, 10, 1e-13, {.5, 0, -.5, 0, 0, 1, 0, -.5},
     {16.215351959891397, -0.027407733039854540, 16.975039872750219, -0.67769557319697056}},
    {"euler-top", euler_top_run, 4, 20, 1e-11, {1, 0, 0, 0, 0, .05, 1, .05},
     {0.1304380133341441, -0.9233489807593123, 0.03786323724062851, -0.35913640817082393}},
    {"andrews", andrews_run, 7, .03, 1e-13,
     {-0.0617138900142764496, 0, 0.455279819163070380, 0.222668390165885885, 0.487364979543842550,
      -0.222668390165885885, 1.23054744454982119},
     {15.810771195153711, -15.756371058411844, 0.040822240119645864, -0.53473011634207952,
      0.52440996587995407, 0.53473011634207952, 1.0480807410419380}},
};

static double time_of(const struct motion *m, double tolerance, int count) {
    double y[MOST], times[25], clock = now();
    memcpy(y, m->start, sizeof y);
    m->run(m->end, y, tolerance);
    int inner = (int)(0.005 / (now() - clock)) + 1;
    for (int r = 0; r < count; r++) {
        clock = now();
        for (int k = 0; k < inner; k++) memcpy(y, m->start, sizeof y), m->run(m->end, y, tolerance);
        times[r] = (now() - clock) / inner;
    }
    return median(times, count);
}

static double error_of(const struct motion *m, const double *y) {
    double e = 0, size = 1;
    for (int i = 0; i < m->n; i++) {
        e = fmax(e, fabs(y[i] - m->right[i]));
        size = fmax(size, fabs(m->right[i]));
    }
    return e / size;
}

static void motion(const struct motion *m) {
    const double tolerances[] = {1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 3e-15, 1e-15};
    double y[MOST], tolerance = 0, least = INFINITY;
    long steps = 0;
    /* The asked error, or the least that it reaches. */
    for (int k = 0; k < 8 && least > m->asked; k++) {
        memcpy(y, m->start, sizeof y);
        long s = m->run(m->end, y, tolerances[k]);
        double e = error_of(m, y);
        if (e < least) least = e, tolerance = tolerances[k], steps = s;
    }
    printf("{\"row\": \"%s\", \"tool\": \"C\", \"seconds\": %.4e, \"error\": %.2e, "
           "\"note\": \"dop853, %.0e, %ld steps\"}\n",
           m->name, time_of(m, tolerance, 25), least, tolerance, steps);
}

static void precision(const struct motion *m) {
    for (int k = 4; k <= 14; k++) {
        double y[MOST], tolerance = pow(10, -k);
        memcpy(y, m->start, sizeof y);
        long steps = m->run(m->end, y, tolerance);
        printf("{\"row\": \"%s\", \"tool\": \"C\", \"method\": \"dop853\", \"tolerance\": %.0e, "
               "\"steps\": %ld, \"seconds\": %.4e, \"error\": %.2e}\n",
               m->name, tolerance, steps, time_of(m, tolerance, 9), error_of(m, y));
    }
}

static void evaluate(int n) {
    double th[50], w[50], a[50], times[25];
    /* Where the others begin; none waits for the one before, as theirs do not. */
    static volatile double last;
    for (int i = 0; i < n; i++) th[i] = 1, w[i] = 0.1;
    int inner = 20000 / n;
    for (int r = 0; r < 25; r++) {
        double clock = now();
        for (int k = 0; k < inner; k++) {
            th[0] += 1e-12;
            links(n, th, w, a);
            for (int i = 0; i < n; i++) last = a[i];
        }
        times[r] = (now() - clock) / inner;
    }
    printf("{\"row\": \"evaluate-%d\", \"tool\": \"C\", \"seconds\": %.4e, \"note\": \"dense\"}\n", n,
           median(times, 25));
}

static int is_asked(const char *name, int count, char **arguments) {
    int rows = 0;
    for (int i = 1; i < count; i++) {
        rows += arguments[i][0] != '-';
        if (!strcmp(arguments[i], name)) return 1;
    }
    return rows == 0;
}

int main(int count, char **arguments) {
    const int sizes[] = {2, 10, 50};
    int every = 0;
    for (int i = 1; i < count; i++) every |= !strcmp(arguments[i], "--precision");
    for (int k = 0; k < 3 && !every; k++) {
        char name[32];
        snprintf(name, sizeof name, "evaluate-%d", sizes[k]);
        if (is_asked(name, count, arguments)) evaluate(sizes[k]);
    }
    for (size_t k = 0; k < sizeof MOTIONS / sizeof *MOTIONS; k++)
        if (is_asked(MOTIONS[k].name, count, arguments))
            (every ? precision : motion)(&MOTIONS[k]);
    return 0;
}
