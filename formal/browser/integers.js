// Integers of any size, for z.ml. Those of 32 bits are numbers, as OCaml's own are here; all others are objects that
// hold a BigInt, never one of 32 bits: so equal integers are equal values, also for OCaml's own equality.

//Provides: bisimdist_Big
function bisimdist_Big(big) { this.big = big; }
bisimdist_Big.prototype.compare = function (other) { // what OCaml's own equality asks; other is no number
  return this.big < other.big ? -1 : this.big > other.big ? 1 : 0;
};

//Provides: bisimdist_of_big
//Requires: bisimdist_Big
function bisimdist_of_big(big) {
  return big >= -2147483648 && big <= 2147483647 ? globalThis.Number(big) : new bisimdist_Big(big);
}

//Provides: bisimdist_big
function bisimdist_big(x) { return typeof x == "number" ? globalThis.BigInt(x) : x.big; }

//Provides: bisimdist_z_of_int
function bisimdist_z_of_int(x) { return x; }

//Provides: bisimdist_z_to_int
//Requires: caml_failwith
function bisimdist_z_to_int(x) { if (typeof x != "number") caml_failwith("overflow"); return x; }

//Provides: bisimdist_z_of_digits
//Requires: bisimdist_of_big, caml_jsbytes_of_string, caml_failwith
function bisimdist_z_of_digits(base, digits) {
  var text = caml_jsbytes_of_string(digits);
  var known = base == 10 ? /^[0-9]+$/ : /^[0-9a-fA-F]+$/;
  if (base != 10 && base != 16 || !known.test(text)) caml_failwith("digits");
  return bisimdist_of_big(globalThis.BigInt(base == 16 ? "0x" + text : text));
}

//Provides: bisimdist_z_to_string
//Requires: bisimdist_big, caml_string_of_jsbytes
function bisimdist_z_to_string(x) { return caml_string_of_jsbytes(bisimdist_big(x).toString()); }

//Provides: bisimdist_z_neg
//Requires: bisimdist_of_big, bisimdist_big
function bisimdist_z_neg(x) { return bisimdist_of_big(-bisimdist_big(x)); }

//Provides: bisimdist_z_add
//Requires: bisimdist_of_big, bisimdist_big
function bisimdist_z_add(x, y) {
  if (typeof x == "number" && typeof y == "number") { var sum = x + y; if (sum === (sum | 0)) return sum | 0; }
  return bisimdist_of_big(bisimdist_big(x) + bisimdist_big(y));
}

//Provides: bisimdist_z_sub
//Requires: bisimdist_of_big, bisimdist_big
function bisimdist_z_sub(x, y) {
  if (typeof x == "number" && typeof y == "number") { var gap = x - y; if (gap === (gap | 0)) return gap | 0; }
  return bisimdist_of_big(bisimdist_big(x) - bisimdist_big(y));
}

//Provides: bisimdist_z_mul
//Requires: bisimdist_of_big, bisimdist_big
function bisimdist_z_mul(x, y) { // a product that is rounded to 32 bits has them, so it was not rounded
  if (typeof x == "number" && typeof y == "number") { var product = x * y; if (product === (product | 0)) return product | 0; }
  return bisimdist_of_big(bisimdist_big(x) * bisimdist_big(y));
}

//Provides: bisimdist_z_divexact
//Requires: bisimdist_of_big, bisimdist_big, caml_failwith
function bisimdist_z_divexact(x, y) {
  if (y === 1) return x;
  var above = bisimdist_big(x), below = bisimdist_big(y);
  if (y === 0) caml_failwith("division by zero");
  return bisimdist_of_big(above / below);
}

//Provides: bisimdist_z_sqrt
//Requires: bisimdist_of_big, bisimdist_big
function bisimdist_z_sqrt(x) { // Newton's, from above
  var big = bisimdist_big(x), one = globalThis.BigInt(1);
  if (big <= one) return x;
  var root = one << globalThis.BigInt(2 * big.toString(16).length), next;
  while ((next = (root + big / root) >> one) < root) root = next;
  return bisimdist_of_big(root);
}

//Provides: bisimdist_z_fdiv
//Requires: bisimdist_of_big, bisimdist_big, caml_failwith
function bisimdist_z_fdiv(x, y) { // rounded down
  if (y === 0) caml_failwith("division by zero");
  var above = bisimdist_big(x), below = bisimdist_big(y), found = above / below;
  return bisimdist_of_big(found * below != above && above < 0 != below < 0 ? found - globalThis.BigInt(1) : found);
}

//Provides: bisimdist_limbs
function bisimdist_limbs(big) { // 24 bits each, the lowest first
  var digits = big.toString(16), limbs = [];
  for (var end = digits.length; end > 0; end -= 6)
    limbs.push(globalThis.parseInt(digits.slice(end > 6 ? end - 6 : 0, end), 16));
  return limbs;
}

//Provides: bisimdist_of_limbs
function bisimdist_of_limbs(limbs) {
  var text = "0x0";
  for (var at = limbs.length - 1; at >= 0; at--) text += (limbs[at] + 16777216).toString(16).slice(1);
  return globalThis.BigInt(text);
}

//Provides: bisimdist_lehmer
//Requires: bisimdist_limbs, bisimdist_of_limbs
function bisimdist_lehmer(large, small) { // the last two of Euclid's numbers, the second below 2^48: Knuth 4.5.2, algorithm L
  var a = bisimdist_limbs(large), b = bisimdist_limbs(small), floor = globalThis.Math.floor;
  while (b.length > 2) {
    var n = a.length, m = b.length, top = 1, A = 1, B = 0, C = 0, D = 1, q, E, F;
    while (top <= a[n - 1]) top *= 2;
    var x = (a[n - 1] * 16777216 + a[n - 2]) * (16777216 / top) + floor(a[n - 3] / top);
    var y = m < n - 2 ? 0 : m < n - 1 ? floor(b[n - 3] / top)
      : ((m < n ? 0 : b[n - 1] * 16777216) + b[n - 2]) * (16777216 / top) + floor(b[n - 3] / top);
    while (y + C != 0 && y + D != 0) {
      q = floor((x + A) / (y + C));
      E = A - q * C;
      F = B - q * D;
      if (q != floor((x + B) / (y + D)) || E > 67108864 || E < -67108864 || F > 67108864 || F < -67108864) break;
      A = C; C = E;
      B = D; D = F;
      E = x - q * y; x = y; y = E;
    }
    if (B == 0) {
      var rest = bisimdist_of_limbs(a) % bisimdist_of_limbs(b);
      a = b;
      b = rest == 0 ? [] : bisimdist_limbs(rest);
    } else { // a, b = A a + B b, C a + D b
      var up = 0, down = 0, v, w;
      for (var at = 0; at < n; at++) {
        v = a[at];
        w = at < m ? b[at] : 0;
        E = A * v + B * w + up;
        F = C * v + D * w + down;
        up = floor(E / 16777216);
        down = floor(F / 16777216);
        a[at] = E - up * 16777216;
        if (at < m) b[at] = F - down * 16777216;
        else b.push(F - down * 16777216);
      }
      while (a.length && a[a.length - 1] == 0) a.pop();
      while (b.length && b[b.length - 1] == 0) b.pop();
    }
  }
  return [bisimdist_of_limbs(a), bisimdist_of_limbs(b)];
}

//Provides: bisimdist_z_gcd
//Requires: bisimdist_of_big, bisimdist_big, bisimdist_lehmer, caml_failwith
function bisimdist_z_gcd(x, y) {
  if (x === 1 || y === 1) return 1;
  var a = bisimdist_big(x), b = bisimdist_big(y), rest;
  if (a < 0) a = -a;
  if (b < 0) b = -b;
  var large = a < b ? b : a, small = a < b ? a : b, last = [large, small];
  if (small > 281474976710655) last = bisimdist_lehmer(large, small);
  var found = last[0];
  if (last[1] != 0) {
    var u = globalThis.Number(last[1]), v = globalThis.Number(last[0] % last[1]);
    while (v != 0) { rest = u % v; u = v; v = rest; }
    found = globalThis.BigInt(u);
  }
  if (found != 0 && (a % found != 0 || b % found != 0)) caml_failwith("no common divisor"); // all that soundness needs
  return bisimdist_of_big(found);
}

//Provides: bisimdist_z_compare
//Requires: bisimdist_big
function bisimdist_z_compare(x, y) {
  var a = x, b = y;
  if (typeof x != "number" || typeof y != "number") { a = bisimdist_big(x); b = bisimdist_big(y); }
  return a < b ? -1 : a > b ? 1 : 0;
}

//Provides: bisimdist_z_is_odd
function bisimdist_z_is_odd(x) {
  return typeof x == "number" ? x & 1 : globalThis.Number(globalThis.BigInt.asUintN(1, x.big));
}

//Provides: bisimdist_z_shift_left
//Requires: bisimdist_of_big, bisimdist_big
function bisimdist_z_shift_left(x, k) {
  if (typeof x == "number" && k == 1) { var twice = 2 * x; if (twice === (twice | 0)) return twice; }
  return bisimdist_of_big(bisimdist_big(x) << globalThis.BigInt(k));
}

//Provides: bisimdist_z_shift_right
//Requires: bisimdist_of_big, bisimdist_big
function bisimdist_z_shift_right(x, k) {
  if (typeof x == "number") return x >> (k > 31 ? 31 : k);
  return bisimdist_of_big(x.big >> globalThis.BigInt(k));
}

//Provides: bisimdist_z_numbits
//Requires: bisimdist_big
function bisimdist_z_numbits(x) {
  var big = bisimdist_big(x);
  if (big < 0) big = -big;
  var digits = big.toString(16);
  return 4 * digits.length - globalThis.Math.clz32(globalThis.parseInt(digits.charAt(0), 16)) + 28;
}

//Provides: bisimdist_z_signed_extract
//Requires: bisimdist_of_big, bisimdist_big
function bisimdist_z_signed_extract(x, from, length) {
  return bisimdist_of_big(globalThis.BigInt.asIntN(length, bisimdist_big(x) >> globalThis.BigInt(from)));
}

//Provides: bisimdist_expose
//Requires: caml_call_gen, caml_jsbytes_of_string, caml_string_of_jsbytes
function bisimdist_expose(judge) {
  globalThis.bisimdistCheck = function (text, model) {
    return caml_jsbytes_of_string(caml_call_gen(judge, [caml_string_of_jsbytes(text), caml_string_of_jsbytes(model)]));
  };
}
