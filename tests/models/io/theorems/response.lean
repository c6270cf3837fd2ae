/-
The laws of the outputs of a system, one for each input, as probability mass functions. Written by bisimdist.
Lean checks what is said of this table; that the system has these laws is not part of it.
-/
import Mathlib.Probability.ProbabilityMassFunction.Constructions
import Mathlib.Tactic

open scoped ENNReal NNReal

namespace Bisimdist.law_of_response

/-- A fraction of natural numbers as a probability of Mathlib. -/
noncomputable def fraction (a b : ℕ) : ℝ≥0∞ := (((a : ℝ≥0) / (b : ℝ≥0) : ℝ≥0) : ℝ≥0∞)

theorem sum_fraction {k : ℕ} (w : Fin k → ℕ) (d : ℕ) (hd : 0 < d) (h : ∑ o, w o = d) :
    ∑ o, fraction (w o) d = 1 := by
  have hd' : (d : ℝ≥0) ≠ 0 := Nat.cast_ne_zero.mpr hd.ne'
  simp only [fraction]
  rw [← ENNReal.coe_finset_sum, ← Finset.sum_div, ← Nat.cast_sum, h, div_self hd', ENNReal.coe_one]

def inputs : List String := ["[0, 0]", "[0, 1]", "[1, 0]", "[1, 1]"]

def outputs : List String := ["[1, 1]", "[1, 0]", "[0, 1]", "[0, 0]"]

/-- By input the weight of each output, and their sum. -/
def weights : List (List ℕ) := [
  [1, 3, 3, 9],
  [3, 1, 9, 3],
  [3, 9, 1, 3],
  [9, 3, 3, 1]]

def totals : List ℕ := [16, 16, 16, 16]

def weight (i : Fin 4) (o : Fin 4) : ℕ := (weights.getD i.val []).getD o.val 0

def total (i : Fin 4) : ℕ := totals.getD i.val 0

theorem weights_sum : ∀ i : Fin 4, 0 < total i ∧ ∑ o : Fin 4, weight i o = total i := by
  decide +kernel

/-- The law of the outputs, for each input. -/
noncomputable def law (i : Fin 4) : PMF (Fin 4) :=
  PMF.ofFintype (fun o => fraction (weight i o) (total i))
    (sum_fraction (weight i) (total i) (weights_sum i).1 (weights_sum i).2)

theorem law_apply (i : Fin 4) (o : Fin 4) : law i o = fraction (weight i o) (total i) := by
  first | rfl | rw [law, PMF.ofFintype_apply]

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

def neighbours : List (Fin 4 × Fin 4) := [(0, 1), (0, 2), (1, 3), (2, 3)]

theorem compared : ∀ n ∈ neighbours, ∀ o : Fin 4,
    weight n.1 o * (1 * total n.2) ≤ 3 * weight n.2 o * total n.1 ∧
      weight n.2 o * (1 * total n.1) ≤ 3 * weight n.1 o * total n.2 := by
  decide +kernel

/-- The budget: this fraction is e^epsilon. -/
theorem budget (n : Fin 4 × Fin 4) (hn : n ∈ neighbours) (S : Set (Fin 4)) :
    (law n.1).toOuterMeasure S ≤ fraction 3 1 * (law n.2).toOuterMeasure S ∧
      (law n.2).toOuterMeasure S ≤ fraction 3 1 * (law n.1).toOuterMeasure S := by
  refine ⟨events (fun o => ?_) S, events (fun o => ?_) S⟩
  · rw [law_apply, law_apply]
    exact fraction_le (weights_sum n.1).1 (by norm_num) (weights_sum n.2).1 (compared n hn o).1
  · rw [law_apply, law_apply]
    exact fraction_le (weights_sum n.2).1 (by norm_num) (weights_sum n.1).1 (compared n hn o).2

/-- No smaller fraction holds. -/
theorem attained : ((0, 1) : Fin 4 × Fin 4) ∈ neighbours ∧ 0 < weight 0 1 ∧ law 0 1 = fraction 3 1 * law 1 1 := by
  refine ⟨by decide +kernel, by decide +kernel, ?_⟩
  rw [law_apply, law_apply]
  exact fraction_eq (weights_sum 0).1 (by norm_num) (weights_sum 1).1 (by decide +kernel)

end Bisimdist.law_of_response
