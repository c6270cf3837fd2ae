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
  var above = bisimdist_big(x), below = bisimdist_big(y);
  if (y === 0) caml_failwith("division by zero");
  return bisimdist_of_big(above / below);
}

//Provides: bisimdist_z_gcd
//Requires: bisimdist_of_big, bisimdist_big
function bisimdist_z_gcd(x, y) {
  var rest;
  if (typeof x != "number" || typeof y != "number") {
    var a = bisimdist_big(x), b = bisimdist_big(y);
    if (a < 0) a = -a;
    if (b < 0) b = -b;
    while (b > 9007199254740991) { rest = a % b; a = b; b = rest; }
    if (b == 0) return bisimdist_of_big(a);
    x = globalThis.Number(b);
    y = globalThis.Number(a % b);
  }
  x = x < 0 ? -x : x;
  y = y < 0 ? -y : y;
  while (y != 0) { rest = x % y; x = y; y = rest; }
  return bisimdist_of_big(globalThis.BigInt(x));
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
