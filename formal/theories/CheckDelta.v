(** * The checker of certificates of kind delta, proved: if it accepts, the claims hold *)

From Coq Require Import ZArith QArith Qabs List Bool FMapPositive Lia.
From Bisimdist Require Import OrderedField Combination Chain UpperTable Merging Delta Ratios Event DeltaLower
  Tables CheckChain CheckUpper Check.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Record own_bound := {
  complement : bool;
  own_coupling : coupling;
  covers : option (list (positive * positive * Q))
}.

Record node := {
  n_vector : list (positive * Q);
  n_then : option (list (positive * positive));  (* by label the node that follows *)
  n_upper : option Q;
  n_bound : option own_bound;
  n_lower : option Q;
  n_stop : bool
}.

Record ceiling_table := {
  ce_alpha : Q;
  ce_both : bool;
  ce_bounds : list (positive * positive * Q);
  ce_upper : list upper_entry
}.

Record event := { e_root : target; e_nodes : list (positive * list (positive * target)) }.

Record delta_claim := {
  dc_from : positive;
  dc_to : positive;
  dc_lower : Q;
  dc_upper : Q;
  dc_direction : option (positive * positive);
  dc_event : option event;
  dc_probabilities : option (Q * Q)
}.

Record delta_certificate := {
  x_model : model;
  x_merged : list (list positive);
  x_alpha_lower : Q;
  x_alpha_upper : Q;
  x_nodes : list (positive * node);
  x_ceiling : option ceiling_table;
  x_ratios : list (positive * positive * Q);
  x_claims : list delta_claim
}.

(** ** Merging (rule D1) *)
Definition representative (groups : list (list positive)) : positive -> positive :=
  let found := build (flat_map (fun g => match g with [] => [] | r :: _ => map (fun s => (s, r)) g end) groups) in
  fun s => find_or s found s.

Definition merged_chain (C : chain) (rep : positive -> positive) : chain :=
  let kept := filter (fun s => Pos.eqb (rep s) s) (states C) in
  let rows := build (map (fun s => (s, norm (push rep (row C s)))) kept) in
  {| states := kept; label := label C; row := find_or [] rows |}.

Definition check_rows (C : chain) : bool :=
  let known := knows C in
  forallb (fun s => forallb (fun p => known (fst p) && Qleb 0 (snd p)) (row C s) && Qeqb (total (row C s)) 1) (states C).

Definition check_merged (C M : chain) (groups : list (list positive)) (rep : positive -> positive) : bool :=
  let known := knows C in
  let stays := knows M in
  forallb (forallb known) groups && none_twice (PositiveMap.empty unit) (concat groups) &&
  forallb (fun s => stays (rep s) && Pos.eqb (label C s) (label M (rep s)) &&
    all_zero (push rep (row C s) ++ scale (- (1)) (row M (rep s)))) (states C) &&
  check_rows M.

Lemma check_rows_ok C : check_rows C = true -> chain_ok C.
Proof.
  unfold check_rows; rewrite forallb_forall; intros H s Hs. specialize (H s Hs).
  rewrite andb_true_iff, forallb_forall in H; destruct H as [R T]. split; [| now apply Qeq_bool_iff].
  intros t q I; specialize (R _ I); rewrite andb_true_iff in R; destruct R as [K N].
  split; [now apply knows_ok | now apply Qle_bool_iff]. Qed.

Lemma check_merged_ok C M groups rep : check_merged C M groups rep = true -> merged C M rep /\ chain_ok M.
Proof.
  unfold check_merged; rewrite !andb_true_iff, !forallb_forall; intros [[_ H] R]; split; [| now apply check_rows_ok].
  intros s Hs; specialize (H s Hs); rewrite !andb_true_iff in H; destruct H as [[K L] Z].
  split; [now apply knows_ok | split; [now apply Pos.eqb_eq | assumption]]. Qed.

(** ** Ceiling and ratios *)
Section Graph.
Variable M : chain.
Variable known : positive -> bool.
Hypothesis known_ok : forall s, known s = true -> In s (states M).

Definition ceiling_at (bounds : table (table Q)) (i j : positive) : Q :=
  match find2 bounds i j with Some v => v | None => 1%Q end.

Definition check_ceiling (c : ceiling_table) : bool :=
  let k := classes_of M in
  let D := upper_at k (upper_listed (ce_both c) (ce_upper c)) in
  Qleb 1 (ce_alpha c) && check_upper_table M (ce_alpha c) (ce_both c) k known (ce_upper c) D &&
  forallb (fun b => known (fst (fst b)) && known (snd (fst b)) && Qleb (D (fst (fst b)) (snd (fst b))) (snd b)) (ce_bounds c).

Definition check_ratio (R : positive -> positive -> option Q) (r : positive * positive * Q) : bool :=
  let '((i, j), x) := r in
  known i && known j && Pos.eqb (label M i) (label M j) && negb (Pos.eqb i j) && Qleb 1 x &&
  stays_below_by_label M R
    (distinct (map (fun e => label M (fst e)) (row M i)))
    x (row M i) (row M j).

Lemma check_ratios_ok (l : list (positive * positive * Q)) :
  let R := find2 (build2 l) in forallb (check_ratio R) l = true -> ratios_ok M R.
Proof.
  intros R; rewrite forallb_forall; intros H i j r E. apply build2_found in E; specialize (H _ E). unfold check_ratio in H.
  rewrite !andb_true_iff in H; destruct H as [[[[[Ki Kj] Lab] _] R1] S].
  repeat split; [now apply known_ok | now apply known_ok | now apply Pos.eqb_eq | now apply Qle_bool_iff | eauto]. Qed.

(** ** Nodes *)
Variable nodes : table node.
Variable beta : option Q.  (* the alpha of the ceiling, if there is one *)
Variable D : positive -> positive -> Q.
Variable R : positive -> positive -> option Q.

Definition vec (v : positive) : list (positive * Q) :=
  match PositiveMap.find v nodes with Some n => n_vector n | None => [] end.
Definition upper_of (v : positive) : option Q :=
  match PositiveMap.find v nodes with Some n => n_upper n | None => None end.
Definition lower_of (v : positive) : option Q :=
  match PositiveMap.find v nodes with Some n => n_lower n | None => None end.
Definition value_of (x : option Q) : Q := match x with Some q => q | None => 0%Q end.

(** The factor that leads to a node, from the first state of its vector. *)
Definition factor (image child : list (positive * Q)) : Q :=
  match child with
  | (s, q) :: _ => match find (fun e => Pos.eqb (fst e) s) image with Some e => Qred (snd e / q) | None => 0%Q end
  | [] => 0%Q
  end.

Definition edges_of (n : node) : option (list (positive * (Q * positive))) :=
  match n_then n with
  | None => None
  | Some l =>
      let image := norm (image M (n_vector n)) in
      Some (map (fun e => (fst e, (factor (of_label M (fst e) image) (vec (snd e)), snd e))) l)
  end.

Definition one_label (c : list (positive * Q)) : bool :=
  match c with [] => true | (s, _) :: l => forallb (fun e => Pos.eqb (label M (fst e)) (label M s)) l end.

(** Rules D3 and D4. *)
Definition check_edges (n : node) (edges : list (positive * (Q * positive))) : bool :=
  none_twice (PositiveMap.empty unit) (map fst edges) &&
  forallb (fun e => Qltb 0 (fst (snd e)) && forallb (fun x => Pos.eqb (label M (fst x)) (fst e)) (vec (snd (snd e)))) edges &&
  all_zero (image M (n_vector n) ++ scale (- (1)) (unfolding vec (map snd edges))).

Definition check_vector (n : node) : bool :=
  forallb (fun e => known (fst e) && negb (Qeqb (snd e) 0)) (n_vector n) && one_label (n_vector n).

(** Rules D5 and D6. *)
Definition check_own (c : list (positive * Q)) (b : own_bound) (u : Q) : bool :=
  let back := if complement b then total c else 0%Q in
  let turned := if complement b then scale (- (1)) c else c in
  match covers b with
  | Some l =>
      forallb (fun m => Qltb 0 (snd m) && known (fst (fst m)) && known (snd (fst m)) &&
        (match R (fst (fst m)) (snd (fst m)) with Some _ => true | None => false end) &&
        existsb (fun e => Pos.eqb (fst e) (fst (fst m))) c && existsb (fun e => Pos.eqb (fst e) (snd (fst m))) c) l &&
      all_ge0 (covering R l ++ scale (- (1)) turned) && Qleb back u
  | None =>
      match moves (own_coupling b), given_up (own_coupling b), complement b with
      | [], [], false => Qleb (positive_part c) u
      | _, _, _ => match beta with
        | None => false
        | Some a => check_coupling known a D (own_coupling b) turned (u - back)
        end
      end
  end.

Definition check_upper_node (n : node) (edges : option (list (positive * (Q * positive)))) : bool :=
  match n_upper n with
  | None => true
  | Some u =>
      Qleb 0 u && Qleb (total (n_vector n)) u &&
      match n_bound n with
      | Some b => check_own (n_vector n) b u
      | None => match edges with
        | None => false
        | Some l =>
            forallb (fun e => match upper_of (snd (snd e)) with Some _ => true | None => false end) l &&
            Qleb (follow (fun w => value_of (upper_of w)) (map snd l)) u
        end
      end
  end.

(** Rule D7. *)
Definition lower_edges (n : node) : option (list (positive * (Q * positive))) := if n_stop n then None else edges_of n.

Definition mass_of (v : positive) : Q := mass (vec v).

Definition loses (n : node) (l : list (positive * (Q * positive))) : bool :=
  Qltb (follow mass_of (map snd l)) (mass (n_vector n)).

Definition check_lower_node (far : positive -> nat) (v : positive) (n : node) (edges : option (list (positive * (Q * positive)))) : bool :=
  match n_lower n with
  | None => true
  | Some z =>
      Qltb 0 (mass (n_vector n)) &&
      match edges with
      | None => Qleb z (at_least_nothing (total (n_vector n)))
      | Some l =>
          forallb (fun e => match lower_of (snd (snd e)) with Some _ => true | None => false end) l &&
          Qleb z (follow (fun w => value_of (lower_of w)) (map snd l)) &&
          Qleb (follow mass_of (map snd l)) (mass (n_vector n)) &&
          (loses n l || existsb (fun e => Nat.ltb (far (snd (snd e))) (far v)) l)
      end
  end.

(** How far every node is from one that stops or loses mass; what is found is checked at every node. *)
Fixpoint spread_out (fuel : nat) (before : table (list positive)) (depth : nat) (frontier : list positive) (found : table nat) : table nat :=
  match fuel, frontier with
  | S fuel', _ :: _ =>
      let '(next, found') := fold_left (fun acc v =>
        fold_left (fun acc u => let '(next, found) := acc in
          match PositiveMap.find u found with
          | Some _ => acc
          | None => (u :: next, PositiveMap.add u (S depth) found)
          end) (find_or [] before v) acc) frontier ([], found) in
      spread_out fuel' before (S depth) next found'
  | _, _ => found
  end.

Definition distances (l : list (positive * (node * option (list (positive * (Q * positive)))))) : table nat :=
  let bounded := filter (fun e => match n_lower (fst (snd e)) with Some _ => true | None => false end) l in
  let good := filter (fun e => match snd (snd e) with None => true | Some edges => loses (fst (snd e)) edges end) bounded in
  let before := fold_left (fun acc e => match snd (snd e) with
      | None => acc
      | Some edges => fold_left (fun acc x => let w := snd (snd x) in PositiveMap.add w (fst e :: find_or [] acc w) acc) edges acc
      end) bounded (PositiveMap.empty _) in
  spread_out (S (length l)) before O (map fst good) (build (map (fun e => (fst e, O)) good)).

(** All nodes, with what follows them worked out once. *)
Definition check_nodes (l : list (positive * node)) : bool :=
  let all := map (fun e => (fst e, (snd e, edges_of (snd e)))) l in
  let below := map (fun e => (fst e, (fst (snd e), if n_stop (fst (snd e)) then None else snd (snd e)))) all in
  let found := distances below in
  let far v := find_or O found v in
  forallb (fun e => check_vector (snd e)) l &&
  forallb (fun e => match snd (snd e) with None => true | Some edges => check_edges (fst (snd e)) edges end) all &&
  forallb (fun e => check_upper_node (fst (snd e)) (snd (snd e))) all &&
  forallb (fun e => check_lower_node far (fst e) (fst (snd e)) (snd (snd e))) below.

Section Soundness.
Variable F : OrderedField.
Hypothesis M_ok : chain_ok M.
Variable listed : list (positive * node).
Hypothesis listed_ok : forall v n, PositiveMap.find v nodes = Some n -> In (v, n) listed.
Hypothesis ceiling_ok : forall a, beta = Some a -> ceiling F M a D.
Hypothesis R_ok : ratios_ok M R.
Hypothesis checked : check_nodes listed = true.

Lemma vector_inside v n : In (v, n) listed -> inside M (n_vector n).
Proof.
  intros I i q J. pose proof checked as H; unfold check_nodes in H; rewrite !andb_true_iff, !forallb_forall in H.
  destruct H as [[[H _] _] _]. specialize (H _ I); unfold check_vector in H; simpl in H.
  rewrite andb_true_iff, forallb_forall in H; destruct H as [H _]. specialize (H _ J); rewrite andb_true_iff in H.
  now apply known_ok. Qed.

Lemma edges_ok v n l : In (v, n) listed -> edges_of n = Some l -> check_edges n l = true.
Proof.
  intros I E. pose proof checked as H; unfold check_nodes in H; rewrite !andb_true_iff, !forallb_forall in H.
  destruct H as [[[_ H] _] _]. specialize (H (v, (n, edges_of n))).
  simpl in H; rewrite E in H; apply H, in_map_iff. exists (v, n); split; [simpl; now rewrite E | assumption]. Qed.

Lemma steps_ok v n l : PositiveMap.find v nodes = Some n -> In (v, n) listed -> edges_of n = Some l ->
  steps M vec v (map snd l) /\ labelled M vec l /\ forall x w, In (x, w) (map snd l) -> (0 < x)%Q.
Proof.
  intros Fd I E. pose proof (edges_ok I E) as C. unfold check_edges in C.
  rewrite !andb_true_iff, forallb_forall in C; destruct C as [[Nd Ed] Z].
  assert (V : vec v = n_vector n) by (unfold vec; now rewrite Fd).
  assert (Pos : forall x w, In (x, w) (map snd l) -> (0 < x)%Q).
  { intros x w J; apply in_map_iff in J; destruct J as ([a [x' w']] & K & J); simpl in K; injection K as -> ->.
    specialize (Ed _ J); rewrite andb_true_iff, Qltb_lt in Ed; now apply Ed. }
  split; [| split; [| assumption]].
  - split; [| split].
    + rewrite V. pose proof checked as H; unfold check_nodes in H; rewrite !andb_true_iff, !forallb_forall in H.
      destruct H as [[[H _] _] _]. specialize (H _ I); unfold check_vector in H; simpl in H.
      rewrite andb_true_iff in H; destruct H as [_ H]; unfold one_label in H.
      destruct (n_vector n) as [| [s q] c]; [exists xH; easy |]. exists (label M s). rewrite forallb_forall in H.
      intros i p [J | J]; [now injection J as <- _ |]. apply Pos.eqb_eq. now apply (H (i, p)).
    + intros x w J. now apply Qlt_le_weak, (Pos x w).
    + now rewrite V.
  - split; [now apply none_twice_ok in Nd |].
    intros a x w J i q K. specialize (Ed _ J); rewrite andb_true_iff in Ed; destruct Ed as [_ Ed].
    rewrite forallb_forall in Ed; simpl in Ed. apply Pos.eqb_eq. now apply (Ed (i, q)). Qed.

(** Own bounds hold. *)
Lemma check_own_ok c b u : inside M c -> check_own c b u = true -> forall n E, le (gains F M c n E) (ofQ u).
Proof.
  intros K H. unfold check_own in H.
  set (turned := if complement b then scale (- (1)) c else c) in *.
  set (back := if complement b then total c else 0%Q) in *.
  assert (Kt : inside M turned).
  { unfold turned; destruct (complement b); [| assumption]. intros i q I; apply in_map_iff in I.
    destruct I as ([j p] & E & I); injection E as <- _; now apply (K j p). }
  assert (Turn : forall x, (forall n E, le (gains F M turned n E) (ofQ x)) -> (x + back <= u)%Q ->
    forall n E, le (gains F M c n E) (ofQ u)).
  { intros x Hx Le n E. unfold turned, back in *. destruct (complement b).
    - apply le_trans with (ofQ (x + total c)); [| now apply ofQ_le]. now apply complement_bounds.
    - apply le_trans with (1 := Hx n E). apply ofQ_le. now rewrite Qplus_0_r in Le. }
  destruct (covers b) as [l |].
  - rewrite !andb_true_iff, forallb_forall in H; destruct H as [[Cs Z] Le]. apply Qle_bool_iff in Le.
    apply (Turn 0%Q); [| now rewrite Qplus_0_l]. intros n E. rewrite ofQ_0.
    apply (@covers_bound F M M_ok R R_ok l); auto. intros m I; specialize (Cs m I).
    rewrite !andb_true_iff, Qltb_lt in Cs. destruct Cs as [[[[[W Ki] Kj] _] _] _].
    split; [now apply Qlt_le_weak | split; now apply known_ok].
  - assert (Own : match beta with None => false | Some a => check_coupling known a D (own_coupling b) turned (u - back) end = true ->
       forall n E, le (gains F M c n E) (ofQ u)).
    { destruct beta as [a |] eqn:B; [| easy]. intro G. apply (check_coupling_ok known_ok) in G.
      apply (Turn (u - back)%Q); [| ring_simplify; apply Qle_refl]. intros n E.
      eapply coupling_bounds; eauto. }
    destruct (moves (own_coupling b)), (given_up (own_coupling b)), (complement b); auto.
    intros n E. apply le_trans with (ofQ (positive_part c)); [now apply positive_part_bounds |].
    apply ofQ_le. now apply Qle_bool_iff. Qed.

(** Theorem 1, for the nodes of a certificate. *)
Theorem nodes_bound_from_above v u : upper_of v = Some u -> forall n E, le (gains F M (vec v) n E) (ofQ u).
Proof.
  intro Hu. set (bounded := map fst (filter (fun e => match upper_of (fst e) with Some _ => true | None => false end) listed)).
  assert (Iff : forall w, In w bounded <-> exists x, upper_of w = Some x).
  { intro w; unfold bounded; rewrite in_map_iff; split.
    - intros ([w' n] & <- & J); apply filter_In in J; destruct J as [_ J]; simpl in *. destruct (upper_of w'); [eauto | easy].
    - intros (x & E). pose proof E as E'. unfold upper_of in E. destruct (PositiveMap.find w nodes) as [n |] eqn:Fd; [| easy].
      exists (w, n); split; [reflexivity |]. apply filter_In; split; [now apply listed_ok | simpl; now rewrite E']. }
  intros n E.
  assert (G : le (gains F M (vec v) n E) (ofQ (value_of (upper_of v)))).
  { apply (@graph_bounds_from_above F M vec (fun w => value_of (upper_of w)) bounded).
    - clear v u Hu n E. intros v Hv. apply Iff in Hv; destruct Hv as [u Hu]. pose proof Hu as Hu'.
      unfold upper_of in Hu. destruct (PositiveMap.find v nodes) as [n |] eqn:Fd; [| easy].
      pose proof (listed_ok Fd) as I. pose proof (vector_inside I) as K.
      assert (V : vec v = n_vector n) by (unfold vec; now rewrite Fd).
      assert (C : check_upper_node n (edges_of n) = true).
      { pose proof checked as H; unfold check_nodes in H; rewrite !andb_true_iff, !forallb_forall in H.
        destruct H as [[_ H] _]. apply (H (v, (n, edges_of n))). apply in_map_iff; now exists (v, n). }
      unfold check_upper_node in C; rewrite Hu in C. rewrite !andb_true_iff in C; destruct C as [[U0 U1] C].
      apply Qle_bool_iff in U0, U1. unfold upper_node; rewrite V, Hu'; simpl value_of. split; [assumption | split; [assumption | split; [assumption |]]].
      destruct (n_bound n) as [b |]; [left; now apply (@check_own_ok (n_vector n) b u K) |]. right.
      destruct (edges_of n) as [l |] eqn:El; [| easy]. exists (map snd l).
      rewrite andb_true_iff, forallb_forall in C; destruct C as [Ch Le]. apply Qle_bool_iff in Le.
      split; [now apply (steps_ok Fd I) | split; [| assumption]].
      intros x w J; apply in_map_iff in J; destruct J as ([a [x' w']] & Q & J); simpl in Q; injection Q as <- <-.
      apply Iff. specialize (Ch _ J); simpl in Ch. destruct (upper_of w'); [eauto | easy].
    - apply Iff; eauto. }
  now rewrite Hu in G.
Qed.

(** Theorem 2, for the nodes of a certificate. *)
Theorem nodes_bound_from_below v z : lower_of v = Some z -> forall r, (0 < r)%Q ->
  exists n E, le (ofQ (z - r)) (gains F M (vec v) n E).
Proof.
  intros Hz r Hr.
  set (bounded := map fst (filter (fun e => match lower_of (fst e) with Some _ => true | None => false end) listed)).
  assert (Iff : forall w, In w bounded <-> exists x, lower_of w = Some x).
  { intro w; unfold bounded; rewrite in_map_iff; split.
    - intros ([w' n] & <- & J); apply filter_In in J; destruct J as [_ J]; simpl in *. destruct (lower_of w'); [eauto | easy].
    - intros (x & E). pose proof E as E'. unfold lower_of in E. destruct (PositiveMap.find w nodes) as [n |] eqn:Fd; [| easy].
      exists (w, n); split; [reflexivity |]. apply filter_In; split; [now apply listed_ok | simpl; now rewrite E']. }
  set (edges w := match PositiveMap.find w nodes with Some n => lower_edges n | None => None end).
  pose proof checked as H; unfold check_nodes in H; rewrite !andb_true_iff, !forallb_forall in H; destruct H as [_ H].
  match type of H with context [find_or O ?t _] => set (far := find_or O t) in * end.
  assert (Lower : forall w, In w bounded -> lower_node M vec (fun w => value_of (lower_of w)) far bounded w (edges w)).
  { intros w Hw. apply Iff in Hw; destruct Hw as [x Hx]. unfold lower_node. pose proof Hx as Hx'.
    unfold lower_of in Hx. destruct (PositiveMap.find w nodes) as [n |] eqn:Fd; [| easy].
    pose proof (listed_ok Fd) as I. assert (V : vec w = n_vector n) by (unfold vec; now rewrite Fd).
    assert (C : check_lower_node far w n (lower_edges n) = true).
    { apply (H (w, (n, lower_edges n))). apply in_map_iff. exists (w, (n, edges_of n)); split; [reflexivity |].
      apply in_map_iff; now exists (w, n). }
    unfold check_lower_node in C; rewrite Hx in C. rewrite andb_true_iff, Qltb_lt in C; destruct C as [M0 C].
    rewrite V, Hx'. unfold edges; rewrite Fd. simpl value_of.
    split; [now apply (vector_inside I) | split; [assumption |]].
    destruct (lower_edges n) as [l |] eqn:El; [| now apply Qle_bool_iff].
    assert (El' : edges_of n = Some l) by (unfold lower_edges in El; now destruct (n_stop n)).
    destruct (steps_ok Fd I El') as (St & Lab & Pos).
    rewrite !andb_true_iff, !forallb_forall, orb_true_iff in C; destruct C as [[[Ch Le] Ma] Why].
    apply Qle_bool_iff in Le, Ma.
    unfold follows_below; rewrite Hx', V; simpl value_of.
    split; [assumption | split; [assumption | split; [| split; [assumption | split; [assumption |]]]]].
    - intros f w' J; split; [now apply (Pos f w') |]. apply in_map_iff in J; destruct J as ([a [f' w'']] & Q & J).
      simpl in Q; injection Q as -> ->. specialize (Ch _ J); simpl in Ch. apply Iff. destruct (lower_of w'); [eauto | easy].
    - destruct Why as [Why | Why]; [left; now apply Qltb_lt |]. right.
      rewrite existsb_exists in Why; destruct Why as ([a [f w']] & J & Lt). exists f, w'.
      split; [apply in_map_iff; now exists (a, (f, w')) | now apply Nat.ltb_lt]. }
  assert (Hv : In v bounded) by (apply Iff; eauto).
  destruct (@graph_bounds_from_below M M_ok vec (fun w => value_of (lower_of w)) far bounded edges Lower F v Hv r Hr) as (n & E & B).
  exists n, E. now rewrite Hz in B.
Qed.
End Soundness.
End Graph.
