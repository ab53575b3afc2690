//! Loops compiled for wider registers than every processor has.

/// Work that is worth being compiled more than once.
pub trait Wide {
    /// What it gives.
    type Output;

    /// Does it. Only what is inlined here, marked `#[inline(always)]` as this is to be, is compiled
    /// for what the processor has.
    fn run(self) -> Self::Output;
}

/// Does work compiled for registers of four doubles, and for fused products, where the processor
/// has them. The numbers are the same: nothing is fused or reordered by that, and what is written
/// as fused is so everywhere.
#[inline]
pub fn wide<W: Wide>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        #[allow(unsafe_code)]
        // SAFETY: the processor has what the function is compiled for.
        return unsafe { on_avx2(work) };
    }
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn on_avx2<W: Wide>(work: W) -> W::Output {
    work.run()
}

/// The same compiled for registers of eight doubles, where the processor has them: for loops over
/// eight of something, which others are not sooner done by.
#[inline]
pub fn widest<W: Wide>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("fma")
    {
        #[allow(unsafe_code)]
        // SAFETY: the processor has what the function is compiled for.
        return unsafe { on_avx512(work) };
    }
    wide(work)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx2,fma")]
fn on_avx512<W: Wide>(work: W) -> W::Output {
    work.run()
}

#[cfg(test)]
mod tests {
    use super::{Wide, wide, widest};

    struct Squares<'a>(&'a [f64]);

    impl Wide for Squares<'_> {
        type Output = Vec<f64>;

        #[inline(always)]
        fn run(self) -> Vec<f64> {
            self.0.iter().map(|x| x * x + 0.3).collect()
        }
    }

    #[test]
    fn work_is_what_it_is() {
        let x: Vec<f64> = (0..37).map(|k| 0.1 * f64::from(k)).collect();
        assert_eq!(Squares(&x).run(), wide(Squares(&x)));
        assert_eq!(Squares(&x).run(), widest(Squares(&x)));
    }
}
