(** * What the main theorems rest on: nothing but the rules of Coq's logic *)

From Bisimdist Require Import OrderedField Chain Lower LowerTable UpperTable Merging Delta Ratios Event DeltaLower
  Leastness Extension CheckChain Check CheckDeltaClaims
  Hmm HmmPump Metric Bernstein.

Print Assumptions Qc_field.
Print Assumptions prefixed_bounds_events.
Print Assumptions prefixed_bounds_delta.
Print Assumptions weak_duality.
Print Assumptions upper_table_prefixed.
Print Assumptions upper_table_above_distance.
Print Assumptions upper_table_bounds_events.
Print Assumptions refined_apart.
Print Assumptions lower_table_sound.
Print Assumptions lower_table_below_distance.
Print Assumptions merging_keeps_events.
Print Assumptions graph_bounds_from_above.
Print Assumptions ceiling_of_a_table.
Print Assumptions coupling_bounds.
Print Assumptions complement_bounds.
Print Assumptions ratios_bound_events.
Print Assumptions covers_bound.
Print Assumptions probability_ok.
Print Assumptions graph_bounds_from_below.
Print Assumptions check_distance_sound.
Print Assumptions check_delta_sound.
Print Assumptions leastness.
Print Assumptions extension_ok.
Print Assumptions classes_of_apart.
Print Assumptions layers_prove_budget.
Print Assumptions cone_proves_budget.
Print Assumptions factors_prove_budget.
Print Assumptions pump_refutes_every_budget.
Print Assumptions amortised_bounds_traces.
Print Assumptions accumulative_bounds_traces.
Print Assumptions table_bounds_traces.
Print Assumptions coefficients_represent.
Print Assumptions bernstein.
Print Assumptions cuts_prove.
Print Assumptions square_times.
