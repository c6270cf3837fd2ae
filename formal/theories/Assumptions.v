(** * What the main theorems rest on: nothing but the rules of Coq's logic *)

From Bisimdist Require Import OrderedField Chain Lower LowerTable UpperTable Merging Delta Ratios Event DeltaLower
  Leastness Extension CheckChain Check CheckDeltaClaims
  Hmm HmmPump Metric Bernstein Coupling AboveThreshold NoisyMax.

(** The main theorems, one after the other. *)
Definition main_theorems :=
  (conj (@prefixed_bounds_events)
  (conj (@prefixed_bounds_delta)
  (conj (@weak_duality)
  (conj (@upper_table_prefixed)
  (conj (@upper_table_above_distance)
  (conj (@upper_table_bounds_events)
  (conj (@refined_apart)
  (conj (@lower_table_sound)
  (conj (@lower_table_below_distance)
  (conj (@merging_keeps_events)
  (conj (@graph_bounds_from_above)
  (conj (@ceiling_of_a_table)
  (conj (@coupling_bounds)
  (conj (@complement_bounds)
  (conj (@ratios_bound_events)
  (conj (@covers_bound)
  (conj (@probability_ok)
  (conj (@graph_bounds_from_below)
  (conj (@check_distance_sound)
  (conj (@check_delta_sound)
  (conj (@leastness)
  (conj (@extension_ok)
  (conj (@classes_of_apart)
  (conj (@layers_prove_budget)
  (conj (@layers_prove_budget_up_to)
  (conj (@cone_proves_budget)
  (conj (@factors_prove_budget)
  (conj (@pump_refutes_every_budget)
  (conj (@amortised_bounds_traces)
  (conj (@accumulative_bounds_traces)
  (conj (@table_bounds_traces)
  (conj (@coefficients_represent)
  (conj (@bernstein)
  (conj (@cuts_prove)
  (conj (@square_times)
  (conj (@transport_bounds)
  (conj (@coupling_bounds_output)
  (conj (@coupling_bounds_events)
  (conj (@two_sided_geometric_slow)
  (conj (@above_threshold_budget)
  (conj (@noisy_max_budget)
  I))))))))))))))))))))))))))))))))))))))))).

Print Assumptions main_theorems.
Print Assumptions Qc_field.
