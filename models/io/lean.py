# ruff: noqa: RUF001, RUF002, E501
"""Laws as theorems for Lean 4, about Mathlib's ``PMF``.

Probabilities are natural numbers over one denominator an input, so that a kernel decides what is said of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from string import Template

from flint import fmpq, fmpz

from bisimdist.models.io.theorem import Laws, plain

_FACTS = """\
/-
The laws of the outputs of a system, one for each input, as probability mass functions. Written by bisimdist.
Lean checks what is said of this table; that the system has these laws is not part of it.
-/
import Mathlib.Probability.ProbabilityMassFunction.Constructions
import Mathlib.Tactic

open scoped ENNReal NNReal

namespace Bisimdist.$name

/-- A fraction of natural numbers as a probability of Mathlib. -/
noncomputable def fraction (a b : ℕ) : ℝ≥0∞ := (((a : ℝ≥0) / (b : ℝ≥0) : ℝ≥0) : ℝ≥0∞)

theorem sum_fraction {k : ℕ} (w : Fin k → ℕ) (d : ℕ) (hd : 0 < d) (h : ∑ o, w o = d) :
    ∑ o, fraction (w o) d = 1 := by
  have hd' : (d : ℝ≥0) ≠ 0 := Nat.cast_ne_zero.mpr hd.ne'
  simp only [fraction]
  rw [← ENNReal.coe_finset_sum, ← Finset.sum_div, ← Nat.cast_sum, h, div_self hd', ENNReal.coe_one]

def inputs : List String := [$inputs]

def outputs : List String := [$outputs]

/-- By input the weight of each output, and their sum. -/
def weights : List (List ℕ) := [
$rows]

def totals : List ℕ := [$totals]

def weight (i : Fin $m) (o : Fin $k) : ℕ := (weights.getD i.val []).getD o.val 0

def total (i : Fin $m) : ℕ := totals.getD i.val 0

theorem weights_sum : ∀ i : Fin $m, 0 < total i ∧ ∑ o : Fin $k, weight i o = total i := by
  decide +kernel

/-- The law of the outputs, for each input. -/
noncomputable def law (i : Fin $m) : PMF (Fin $k) :=
  PMF.ofFintype (fun o => fraction (weight i o) (total i))
    (sum_fraction (weight i) (total i) (weights_sum i).1 (weights_sum i).2)

theorem law_apply (i : Fin $m) (o : Fin $k) : law i o = fraction (weight i o) (total i) := by
  first | rfl | rw [law, PMF.ofFintype_apply]
"""

_BUDGET = """
theorem fraction_le {x d a b y e : ℕ} (hd : 0 < d) (hb : 0 < b) (he : 0 < e)
    (h : x * (b * e) ≤ a * y * d) : fraction x d ≤ fraction a b * fraction y e := by
  have hd' : (0 : ℝ≥0) < d := Nat.cast_pos.mpr hd
  have hb' : (0 : ℝ≥0) < b := Nat.cast_pos.mpr hb
  have he' : (0 : ℝ≥0) < e := Nat.cast_pos.mpr he
  simp only [fraction]
  rw [← ENNReal.coe_mul, ENNReal.coe_le_coe, div_mul_div_comm, div_le_div_iff₀ hd' (mul_pos hb' he')]
  exact_mod_cast h

theorem fraction_eq {x d a b y e : ℕ} (hd : 0 < d) (hb : 0 < b) (he : 0 < e)
    (h : x * (b * e) = a * y * d) : fraction x d = fraction a b * fraction y e := by
  have hd' : (d : ℝ≥0) ≠ 0 := Nat.cast_ne_zero.mpr hd.ne'
  have hb' : (b : ℝ≥0) ≠ 0 := Nat.cast_ne_zero.mpr hb.ne'
  have he' : (e : ℝ≥0) ≠ 0 := Nat.cast_ne_zero.mpr he.ne'
  simp only [fraction]
  rw [← ENNReal.coe_mul, ENNReal.coe_inj, div_mul_div_comm, div_eq_div_iff hd' (mul_ne_zero hb' he')]
  exact_mod_cast h

/-- What bounds every output bounds every event. -/
theorem events {α : Type*} {p q : PMF α} {r : ℝ≥0∞} (h : ∀ x, p x ≤ r * q x) (S : Set α) :
    p.toOuterMeasure S ≤ r * q.toOuterMeasure S := by
  rw [PMF.toOuterMeasure_apply, PMF.toOuterMeasure_apply, ← ENNReal.tsum_mul_left]
  refine ENNReal.tsum_le_tsum fun x => ?_
  by_cases hx : x ∈ S
  · simpa [hx] using h x
  · simp [hx]

def neighbours : List (Fin $m × Fin $m) := [$neighbours]

theorem compared : ∀ n ∈ neighbours, ∀ o : Fin $k,
    weight n.1 o * ($b * total n.2) ≤ $a * weight n.2 o * total n.1 ∧
      weight n.2 o * ($b * total n.1) ≤ $a * weight n.1 o * total n.2 := by
  decide +kernel

/-- The budget: this fraction is e^epsilon. -/
theorem budget (n : Fin $m × Fin $m) (hn : n ∈ neighbours) (S : Set (Fin $k)) :
    (law n.1).toOuterMeasure S ≤ fraction $a $b * (law n.2).toOuterMeasure S ∧
      (law n.2).toOuterMeasure S ≤ fraction $a $b * (law n.1).toOuterMeasure S := by
  refine ⟨events (fun o => ?_) S, events (fun o => ?_) S⟩
  · rw [law_apply, law_apply]
    exact fraction_le (weights_sum n.1).1 (by norm_num) (weights_sum n.2).1 (compared n hn o).1
  · rw [law_apply, law_apply]
    exact fraction_le (weights_sum n.2).1 (by norm_num) (weights_sum n.1).1 (compared n hn o).2

/-- No smaller fraction holds. -/
theorem attained : ($pair : Fin $m × Fin $m) ∈ neighbours ∧ 0 < weight $i $o ∧ law $i $o = fraction $a $b * law $j $o := by
  refine ⟨by decide +kernel, by decide +kernel, ?_⟩
  rw [law_apply, law_apply]
  exact fraction_eq (weights_sum $i).1 (by norm_num) (weights_sum $j).1 (by decide +kernel)
"""


def write_lean(laws: Laws) -> str:
    """Write laws as a file for Lean 4 with Mathlib: they are distributions, and the ratio bounds every event.

    Examples
    --------
    >>> table = Laws("f", ("s",), ("a", "b"), ((fmpq(1, 3), fmpq(2, 3)),))
    >>> [line for line in write_lean(table).splitlines() if line.startswith(("  [", "def totals"))]
    ['  [1, 2]]', 'def totals : List ℕ := [3]']
    """
    totals = [_denominator(row) for row in laws.rows]
    about = {
        "name": laws.identifier(),
        "m": len(laws.inputs),
        "k": len(laws.outputs),
        "inputs": _strings(laws.inputs),
        "outputs": _strings(laws.outputs),
        "rows": ",\n".join(
            f"  [{', '.join(str(p * total) for p in row)}]"
            for row, total in zip(laws.rows, totals, strict=True)
        ),
        "totals": ", ".join(map(str, totals)),
    }
    text = Template(_FACTS).substitute(about)
    if laws.ratio is not None:
        i, j, o = laws.attained()
        text += Template(_BUDGET).substitute(
            about,
            a=laws.ratio.p,
            b=laws.ratio.q,
            neighbours=", ".join(f"({s}, {t})" for s, t in laws.neighbours),
            pair=f"({min(i, j)}, {max(i, j)})",
            i=i,
            j=j,
            o=o,
        )
    return f"{text}\nend Bisimdist.{laws.identifier()}\n"


def _denominator(row: Iterable[fmpq]) -> fmpz:
    found = fmpz(1)
    for p in row:
        found = found.lcm(p.q)
    return found


def _strings(names: Iterable[str]) -> str:
    return ", ".join('"{}"'.format(plain(name).replace("\\", "\\\\").replace('"', '\\"')) for name in names)
