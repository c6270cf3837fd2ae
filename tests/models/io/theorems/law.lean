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

def inputs : List String := ["[0]", "[1]"]

def outputs : List String := ["[1]", "[0]"]

/-- By input the weight of each output, and their sum. -/
def weights : List (List ℕ) := [
  [1, 3],
  [3, 1]]

def totals : List ℕ := [4, 4]

def weight (i : Fin 2) (o : Fin 2) : ℕ := (weights.getD i.val []).getD o.val 0

def total (i : Fin 2) : ℕ := totals.getD i.val 0

theorem weights_sum : ∀ i : Fin 2, 0 < total i ∧ ∑ o : Fin 2, weight i o = total i := by
  decide +kernel

/-- The law of the outputs, for each input. -/
noncomputable def law (i : Fin 2) : PMF (Fin 2) :=
  PMF.ofFintype (fun o => fraction (weight i o) (total i))
    (sum_fraction (weight i) (total i) (weights_sum i).1 (weights_sum i).2)

theorem law_apply (i : Fin 2) (o : Fin 2) : law i o = fraction (weight i o) (total i) := by
  first | rfl | rw [law, PMF.ofFintype_apply]

end Bisimdist.law_of_response
