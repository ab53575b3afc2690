//! Code that is made here by hand, called and refused.
#![cfg(all(unix, target_arch = "x86_64"))]

use dalembert_machine::{Code, Entry, Refused, State};

/// mov rax, [rdx]; mov [rcx], rax; ret
const COPY: [u8; 7] = [0x48, 0x8b, 0x02, 0x48, 0x89, 0x01, 0xc3];

#[test]
fn entries_lie_in_the_code() {
    let refused =
        |bytes: &[u8], at: usize| Code::<()>::new(bytes, &[Entry { at, ..Entry::default() }]).err();
    assert_eq!(refused(&COPY, 7), Some(Refused::Entry));
    assert_eq!(refused(&[], 0), Some(Refused::Entry));
    assert_eq!(Code::<()>::new(&[], &[]).err(), Some(Refused::Unsupported));
    assert_eq!(refused(&COPY, 6), None);
}

#[test]
fn lists_that_are_too_short_are_not_given_to_it() {
    let code = Code::<()>::new(&COPY, &[Entry { at: 0, frame: 2, x: 1, y: 1 }]).expect("memory");
    let mut y = [0.0; 2];
    for (entry, frame, x) in [(1, 2, 1), (0, 1, 1), (0, 2, 0)] {
        let mut lists = (vec![0.0; frame], vec![4.0; x]);
        assert!(!code.call(entry, &mut (), &mut lists.0, &lists.1, &mut y));
    }
    assert!(!code.call(0, &mut (), &mut [0.0; 2], &[4.0], &mut []));
    assert_eq!(y, [0.0; 2]);
    assert!(code.call(0, &mut (), &mut [0.0; 3], &[4.0, 5.0], &mut y));
    assert_eq!(y, [4.0, 0.0]);
}

extern "C" fn collect(state: &mut State<Vec<f64>>) {
    let parts = state.parts();
    parts.context.extend_from_slice(parts.x);
    parts.context.extend_from_slice(parts.frame);
    parts.frame[0] += 1.0;
    parts.y[1] = 7.0;
}

/// Functions that the code calls see the lists and the context of this call, on every thread.
#[test]
fn code_calls_back() {
    // sub rsp, 8; mov rax, collect; call rax; add rsp, 8; ret
    let mut bytes = vec![0x48, 0x83, 0xec, 0x08, 0x48, 0xb8];
    bytes.extend((collect as *const () as usize).to_le_bytes());
    bytes.extend([0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3]);
    let code =
        Code::<Vec<f64>>::new(&bytes, &[Entry { at: 0, frame: 1, x: 2, y: 2 }]).expect("memory");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let code = &code;
            scope.spawn(move || {
                let (mut context, mut frame, mut y) = (Vec::new(), [0.5], [0.0; 2]);
                let x = [thread as f64, 3.0];
                for _ in 0..2 {
                    assert!(code.call(0, &mut context, &mut frame, &x, &mut y));
                }
                assert_eq!(context, [x[0], 3.0, 0.5, x[0], 3.0, 1.5]);
                assert_eq!((frame, y), ([2.5], [0.0, 7.0]));
            });
        }
    });
}

/// Memory is given back: far more of it than there are mappings in a process.
#[test]
fn memory_is_given_back() {
    for _ in 0..100_000 {
        Code::<()>::new(&COPY, &[Entry::default()]).expect("memory");
    }
}
