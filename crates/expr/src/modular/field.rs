//! Arithmetic of residues mod a prime m below 2^62.

/// a + b
pub fn add(a: u64, b: u64, m: u64) -> u64 {
    // Moduli are below 2^62.
    let sum = a + b;
    if sum >= m { sum - m } else { sum }
}

/// −a
pub fn negate(a: u64, m: u64) -> u64 {
    if a == 0 { 0 } else { m - a }
}

/// a · b
pub fn multiply(a: u64, b: u64, m: u64) -> u64 {
    (a as u128 * b as u128 % m as u128) as u64
}

/// base^n
pub fn power(base: u64, mut n: u64, m: u64) -> u64 {
    let (mut square, mut result) = (base, 1);
    while n > 0 {
        if n & 1 == 1 {
            result = multiply(result, square, m);
        }
        square = multiply(square, square, m);
        n >>= 1;
    }
    result
}

/// 1/a for a ≠ 0, by Euclid's algorithm.
pub fn inverse(a: u64, m: u64) -> u64 {
    let (mut r, mut next) = (m as i64, a as i64);
    let (mut x, mut y) = (0i64, 1i64);
    while next != 0 {
        let quotient = r / next;
        (r, next) = (next, r - quotient * next);
        (x, y) = (y, x - quotient * y);
    }
    x.rem_euclid(m as i64) as u64
}

/// Gaussian elimination mod m; none for a singular matrix.
pub fn solve(mut a: Vec<u64>, mut x: Vec<u64>, m: u64) -> Option<Vec<u64>> {
    let n = x.len();
    for column in 0..n {
        let pivot = (column..n).find(|&row| a[row * n + column] != 0)?;
        if pivot != column {
            (0..n).for_each(|j| a.swap(column * n + j, pivot * n + j));
            x.swap(column, pivot);
        }
        let scale = inverse(a[column * n + column], m);
        for row in 0..n {
            if row == column || a[row * n + column] == 0 {
                continue;
            }
            let factor = negate(multiply(a[row * n + column], scale, m), m);
            for j in column..n {
                a[row * n + j] = add(a[row * n + j], multiply(factor, a[column * n + j], m), m);
            }
            x[row] = add(x[row], multiply(factor, x[column], m), m);
        }
    }
    Some((0..n).map(|i| multiply(x[i], inverse(a[i * n + i], m), m)).collect())
}
