//! Discrete Laplace noise after Canonne, Kamath and Steinke (2020), algorithms 1 and 2.
#![no_std]
#![no_main]

#[link(wasm_import_module = "env")]
extern "C" {
    fn rnd64() -> u64;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    core::arch::wasm32::unreachable()
}

/// True with probability num / den, up to the 64 bits of the threshold.
fn bernoulli(num: u64, den: u64) -> bool {
    let drawn = unsafe { rnd64() };
    drawn < u64::MAX / den * num
}

/// True with probability exp(-num / den), for num <= den.
fn bernoulli_exp(num: u64, den: u64) -> bool {
    let mut k = 1;
    while bernoulli(num, den * k) {
        k += 1;
    }
    k % 2 == 1
}

/// A uniform number below a bound: what is drawn above the last multiple of it is drawn again.
fn below(bound: u64) -> u64 {
    let zone = u64::MAX - u64::MAX % bound;
    loop {
        let drawn = unsafe { rnd64() };
        if drawn < zone {
            return drawn % bound;
        }
    }
}

/// The value and noise x with probability in proportion to exp(-|x| / scale).
#[no_mangle]
pub extern "C" fn laplace(value: i64, scale: u64) -> i64 {
    loop {
        let rest = below(scale);
        if !bernoulli_exp(rest, scale) {
            continue;
        }
        let mut whole = 0;
        while bernoulli_exp(1, 1) {
            whole += 1;
        }
        let size = (rest + scale * whole) as i64;
        let negative = unsafe { rnd64() } & 1 == 1;
        if negative && size == 0 {
            continue;
        }
        return if negative { value.wrapping_sub(size) } else { value.wrapping_add(size) };
    }
}
