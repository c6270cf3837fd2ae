(** * Certificates of kind delta as a whole: what the claims rest on, and that they hold *)

From Coq Require Import ZArith QArith List Bool FMapPositive Lia Field Lqa.
From Bisimdist Require Import OrderedField Combination Chain UpperTable Merging Delta Ratios Event DeltaLower
  Tables CheckChain CheckUpper Check CheckDelta.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

(** ** Events (rule D8) *)
Definition go_of (e : event) : positive -> positive -> target :=
  let nodes := build (map (fun n => (fst n, build (snd n))) (e_nodes e)) in
  fun n a => match PositiveMap.find n nodes with Some row => find_or Reject row a | None => Reject end.

(** No cycle: the height of every node is found. *)
Fixpoint height (fuel : nat) (nodes : table (list (positive * target))) (done : table unit) (n : positive) : option (table unit) :=
  match PositiveMap.find n done with
  | Some _ => Some done
  | None => match fuel with
    | O => None
    | S fuel' =>
        match fold_left (fun acc e => match acc, snd e with
            | Some done', Go m => height fuel' nodes done' m
            | _, _ => acc end) (find_or [] nodes n) (Some done) with
        | Some done' => Some (PositiveMap.add n tt done')
        | None => None
        end
    end
  end.

Definition acyclic (e : event) : bool :=
  let nodes := build (e_nodes e) in
  let fuel := S (length (e_nodes e)) in
  match fold_left (fun acc n => match acc with Some done => height fuel nodes done (fst n) | None => None end)
    (e_nodes e) (Some (PositiveMap.empty unit)) with Some _ => true | None => false end.

(** ** Claims (rule C1) *)
Section Claims.
Variable C M : chain.
Variable rep : positive -> positive.
Variable known : positive -> bool.
Variable nodes : table node.
Variable listed : list (positive * node).
Variables alpha_lower alpha_upper : Q.  (* in lowest terms *)

Definition root_vector (alpha : Q) (s t : positive) : list (positive * Q) :=
  [(s, inject_Z (Zpos (Qden alpha))); (t, (- inject_Z (Qnum alpha))%Q)].

Definition is_vector (c d : list (positive * Q)) : bool := Nat.eqb (length c) (length d) && all_zero (c ++ scale (- (1)) d).

(** The number of the last node with a vector. *)
Definition node_with (c : list (positive * Q)) : option positive :=
  fold_left (fun acc e => if is_vector (n_vector (snd e)) c then Some (fst e) else acc) listed None.

Definition per_denominator (alpha x : Q) : Q := Qred (x / inject_Z (Zpos (Qden alpha))).

Definition upper_node_of (s t : positive) : option Q :=
  match node_with (root_vector alpha_upper s t) with
  | Some v => if is_vector (vec nodes v) (root_vector alpha_upper s t) then upper_of nodes v else None
  | None => None
  end.

(** What is proved of one direction from above. *)
Definition proved_above (s t : positive) : Q :=
  if negb (Pos.eqb (label M s) (label M t)) then 1%Q
  else if Pos.eqb s t then 0%Q
  else match upper_node_of s t with
    | Some u => per_denominator alpha_upper u
    | None => if Qeqb alpha_upper 1 then match upper_node_of t s with
        | Some u => per_denominator alpha_upper u
        | None => 1%Q
        end else 1%Q
    end.

Definition proved_below (s t : positive) : Q :=
  if negb (Pos.eqb (label M s) (label M t)) then 1%Q
  else if Pos.eqb s t then 0%Q
  else match node_with (root_vector alpha_lower s t) with
    | Some v => if is_vector (vec nodes v) (root_vector alpha_lower s t)
        then match lower_of nodes v with Some z => per_denominator alpha_lower z | None => 0%Q end else 0%Q
    | None => 0%Q
    end.

Definition check_event (e : event) (p : Q * Q) (s t : positive) : bool :=
  let go := go_of e in
  let n := S (length (e_nodes e)) in
  acyclic e && Qeqb (probability go M n (e_root e) s) (fst p) && Qeqb (probability go M n (e_root e) t) (snd p).

Definition check_below (x : delta_claim) : bool :=
  match dc_direction x with
  | None => false
  | Some (a, b) =>
      (Pos.eqb a (dc_from x) && Pos.eqb b (dc_to x) || Pos.eqb a (dc_to x) && Pos.eqb b (dc_from x)) &&
      match dc_event x with
      | None => Qleb (dc_lower x) (proved_below (rep a) (rep b))
      | Some e => match dc_probabilities x with
        | None => false
        | Some p => check_event e p (rep a) (rep b) && Qleb (dc_lower x) (fst p - alpha_lower * snd p)
        end
      end
  end.

Definition check_delta_claim (x : delta_claim) : bool :=
  let s := rep (dc_from x) in
  let t := rep (dc_to x) in
  known (dc_from x) && known (dc_to x) &&
  Qleb 0 (dc_lower x) && Qleb (dc_lower x) (dc_upper x) && Qleb (dc_upper x) 1 &&
  (if Qltb (dc_upper x) 1 then Qleb (proved_above s t) (dc_upper x) && Qleb (proved_above t s) (dc_upper x) else true) &&
  (if Qltb 0 (dc_lower x) then check_below x else true).
End Claims.

Definition check_delta (x : delta_certificate) : bool :=
  let C := chain_of (x_model x) in
  let alpha_upper := Qred (x_alpha_upper x) in
  let alpha_lower := Qred (x_alpha_lower x) in
  Qleb 1 alpha_upper && Qleb alpha_upper alpha_lower && check_chain (x_model x) C &&
  let rep := representative (x_merged x) in
  let M := merged_chain C rep in
  check_merged C M (x_merged x) rep &&
  let known := knows M in
  let R := find2 (build2 (x_ratios x)) in
  match x_ceiling x with None => true | Some c => check_ceiling M known c end &&
  forallb (check_ratio M known R) (x_ratios x) &&
  let nodes := build (x_nodes x) in
  let beta := match x_ceiling x with Some c => Some (ce_alpha c) | None => None end in
  let D := ceiling_at (match x_ceiling x with Some c => build2 (ce_bounds c) | None => PositiveMap.empty _ end) in
  check_nodes M known nodes beta D R (x_nodes x) &&
  let all := knows C in
  forallb (check_delta_claim M rep all nodes (x_nodes x) alpha_lower alpha_upper) (x_claims x).

(** What a claim says: for every alpha between the two, in every ordered field (e to an epsilon among them), no event
    gains more than [upper] in either direction, and events gain [lower], or come as close to it as one likes, in one. *)
Definition delta_claim_holds (C : chain) (alpha_upper alpha_lower : Q) (x : delta_claim) : Prop :=
  let s := dc_from x in
  let t := dc_to x in
  In s (states C) /\ In t (states C) /\
  forall (F : OrderedField) (a : F), le (ofQ alpha_upper) a -> le a (ofQ alpha_lower) ->
    (forall n E, le (sub (pr C n s E) (mul a (pr C n t E))) (ofQ (dc_upper x)) /\
                 le (sub (pr C n t E) (mul a (pr C n s E))) (ofQ (dc_upper x))) /\
    (forall r, (0 < r)%Q -> exists n E,
       le (ofQ (dc_lower x - r)) (sub (pr C n s E) (mul a (pr C n t E))) \/
       le (ofQ (dc_lower x - r)) (sub (pr C n t E) (mul a (pr C n s E)))).

Section Soundness.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.
Variable M : chain.
Hypothesis M_ok : chain_ok M.
Variable nodes : table node.
Variable listed : list (positive * node).
Variables alpha_lower alpha_upper : Q.
Hypothesis alpha_ge1 : (1 <= alpha_upper)%Q.
Hypothesis above_ok : forall v u, upper_of nodes v = Some u -> forall n E, gains F M (vec nodes v) n E <= ofQ u.
Hypothesis below_ok : forall v z, lower_of nodes v = Some z -> forall r, (0 < r)%Q ->
  exists n E, ofQ (z - r) <= gains F M (vec nodes v) n E.

Lemma den_gt0 (a : Q) : (0 < inject_Z (Zpos (Qden a)))%Q.
Proof. reflexivity. Qed.

Lemma root_gains alpha s t v n E : is_vector (vec nodes v) (root_vector alpha s t) = true ->
  gains F M (vec nodes v) n E = ofQ (inject_Z (Zpos (Qden alpha))) * (pr M n s E - ofQ alpha * pr M n t E).
Proof.
  unfold is_vector; rewrite andb_true_iff; intros [_ Z].
  apply all_zero_ok with (f := fun i => pr M n i E : F) in Z. rewrite eval_app, eval_scale, ofQ_opp, ofQ_1 in Z.
  apply no_difference in Z. unfold gains; rewrite Z. unfold root_vector; simpl. rewrite ofQ_opp.
  assert (A : ofQ (inject_Z (Qnum alpha)) = ofQ (inject_Z (Zpos (Qden alpha))) * ofQ alpha :> F).
  { rewrite <- ofQ_mul. apply ofQ_eq. destruct alpha as [p q]. unfold Qeq, inject_Z, Qmult; cbn [Qnum Qden]. rewrite Pos2Z.inj_mul. ring. }
  rewrite A; ring. Qed.

Lemma per_denominator_ok alpha x : ofQ (per_denominator alpha x) * ofQ (inject_Z (Zpos (Qden alpha))) = (ofQ x : F).
Proof. rewrite <- ofQ_mul. apply ofQ_eq. unfold per_denominator. rewrite Qred_correct. field. discriminate. Qed.

Lemma above_of_node s t u n E : upper_node_of nodes listed alpha_upper s t = Some u ->
  pr M n s E - ofQ alpha_upper * pr M n t E <= (ofQ (per_denominator alpha_upper u) : F).
Proof.
  unfold upper_node_of. destruct (node_with _ _) as [v |]; [| easy].
  destruct (is_vector _ _) eqn:V; [| easy]. intro U. pose proof (above_ok U n E) as B. rewrite (root_gains n E V) in B.
  set (q := ofQ (inject_Z (Zpos (Qden alpha_upper))) : F) in *.
  assert (Q0 : 0 < (q : F)) by (apply ofQ_gt0, den_gt0).
  rewrite <- (@per_denominator_ok alpha_upper u) in B. fold q in B. set (g := pr M n s E - _) in *. set (x := ofQ (per_denominator _ _) : F) in *. clearbody g x q.
  apply le_by with (inv q * (x * q - q * g)); [field; now apply lt_neq |].
  apply le_mul; [now apply lt_le, inv_gt0 | now apply sub_ge0]. Qed.

Let a1 : 1 <= (ofQ alpha_upper : F).
Proof. rewrite <- ofQ_1; now apply ofQ_le. Qed.
Let a0 : 0 <= (ofQ alpha_upper : F).
Proof. apply le_trans with 1; [apply one_ge0 | assumption]. Qed.

Lemma larger_alpha a s t n E : In t (states M) -> ofQ alpha_upper <= a ->
  pr M n s E - a * pr M n t E <= pr M n s E - ofQ alpha_upper * (pr M n t E : F).
Proof. intros Ht H. destruct (pr_bounds F M_ok n E Ht) as [P0 _].
  apply le_by with ((a - ofQ alpha_upper) * pr M n t E); [ring |]. apply le_mul; [now apply sub_ge0 | assumption]. Qed.

Lemma smaller_alpha a s t n E : In t (states M) -> a <= ofQ alpha_lower ->
  pr M n s E - ofQ alpha_lower * pr M n t E <= pr M n s E - a * (pr M n t E : F).
Proof. intros Ht H. destruct (pr_bounds F M_ok n E Ht) as [P0 _].
  apply le_by with ((ofQ alpha_lower - a) * pr M n t E); [ring |]. apply le_mul; [now apply sub_ge0 | assumption]. Qed.

Lemma gains_at_most_1 a s t n E : In s (states M) -> In t (states M) -> ofQ alpha_upper <= a ->
  pr M n s E - a * pr M n t E <= (1 : F).
Proof. intros Hs Ht H. destruct (pr_bounds F M_ok n E Hs) as [_ P1]. destruct (pr_bounds F M_ok n E Ht) as [P0 _].
  apply le_by with ((1 - pr M n s E) + a * pr M n t E); [ring |]. apply add_ge0; [now apply sub_ge0 |].
  apply le_mul; [| assumption]. now apply le_trans with (ofQ alpha_upper). Qed.

Lemma nothing_gained a s t r : (0 < r)%Q -> ofQ (0 - r) <= pr M O s (fun _ => false) - a * (pr M O t (fun _ => false) : F).
Proof. intro Hr; simpl. rewrite ofQ_sub, ofQ_0. apply le_by with (ofQ r : F); [ring | apply ofQ_ge0; now apply Qlt_le_weak]. Qed.

Lemma event_gains e p s t r : In s (states M) -> In t (states M) -> (0 < r)%Q ->
  check_event M e p s t = true ->
  exists n E, ofQ (fst p - alpha_lower * snd p - r) <= pr M n s E - ofQ alpha_lower * (pr M n t E : F).
Proof.
  intros Hs Ht Hr H. unfold check_event in H; rewrite !andb_true_iff in H; destruct H as [[_ Ps] Pt].
  apply Qeq_bool_iff in Ps, Pt. exists (S (length (e_nodes e))), (event_of (go_of e) (e_root e)).
  rewrite <- !probability_ok by assumption. rewrite (ofQ_eq F Ps), (ofQ_eq F Pt), !ofQ_sub, ofQ_mul.
  apply le_by with (ofQ r : F); [ring | apply ofQ_ge0; now apply Qlt_le_weak]. Qed.

Lemma proved_above_ok s t : In s (states M) -> In t (states M) -> forall n E,
  pr M n s E - ofQ alpha_upper * pr M n t E <= (ofQ (proved_above M nodes listed alpha_upper s t) : F).
Proof.
  intros Hs Ht n E. destruct (pr_bounds F M_ok n E Hs) as [Ps0 Ps1]; destruct (pr_bounds F M_ok n E Ht) as [Pt0 Pt1].
  assert (One : pr M n s E - ofQ alpha_upper * pr M n t E <= (ofQ 1 : F)).
  { rewrite ofQ_1. apply le_by with ((1 - pr M n s E) + ofQ alpha_upper * pr M n t E); [ring |].
    apply add_ge0; [now apply sub_ge0 | now apply le_mul]. }
  unfold proved_above. destruct (negb _); [assumption |]. destruct (Pos.eqb s t) eqn:Eq.
  - apply Pos.eqb_eq in Eq; subst t. rewrite ofQ_0.
    apply le_by with ((ofQ alpha_upper - 1) * pr M n s E); [ring |]. apply le_mul; [now apply sub_ge0 | assumption].
  - destruct (upper_node_of nodes listed alpha_upper s t) as [u |] eqn:U; [now apply above_of_node |].
    destruct (Qeqb alpha_upper 1) eqn:A; [| assumption].
    destruct (upper_node_of nodes listed alpha_upper t s) as [u |] eqn:U'; [| assumption].
    apply Qeq_bool_iff in A. pose proof (above_of_node n (fun w => negb (E w)) U') as B.
    rewrite !pr_complement in B by assumption. rewrite (ofQ_eq F A), ofQ_1 in *.
    eapply le_trans; [| exact B]. apply le_by with (0 : F); [ring | apply le_refl].
Qed.

Lemma proved_below_ok s t : In s (states M) -> In t (states M) -> forall r, (0 < r)%Q -> exists n E,
  ofQ (proved_below M nodes listed alpha_lower s t - r) <= pr M n s E - ofQ alpha_lower * (pr M n t E : F).
Proof.
  intros Hs Ht r Hr.
  assert (Nothing : exists n E, ofQ (0 - r) <= pr M n s E - ofQ alpha_lower * (pr M n t E : F)).
  { exists O, (fun _ => false); simpl. rewrite ofQ_sub, ofQ_0.
    apply le_by with (ofQ r : F); [ring | apply ofQ_ge0; now apply Qlt_le_weak]. }
  unfold proved_below. destruct (Pos.eqb (label M s) (label M t)) eqn:Lab; simpl.
  - destruct (Pos.eqb s t) eqn:Eq; [assumption |].
    destruct (node_with _ _) as [v |]; [| assumption].
    destruct (is_vector _ _) eqn:V; [| assumption]. destruct (lower_of nodes v) as [z |] eqn:Z; [| assumption].
    assert (Q1 : (1 <= inject_Z (Zpos (Qden alpha_lower)))%Q) by (unfold Qle; simpl; lia).
    destruct (below_ok Z Hr) as (n & E & B). exists n, E. rewrite (root_gains n E V) in B.
    set (q := ofQ (inject_Z (Zpos (Qden alpha_lower))) : F) in *.
    assert (Qf : 1 <= (q : F)) by (unfold q; rewrite <- ofQ_1; now apply ofQ_le).
    assert (Q0 : 0 < (q : F)) by (apply lt_le_trans with 1; [apply one_gt0 | assumption]).
    rewrite ofQ_sub in *. rewrite <- (@per_denominator_ok alpha_lower z) in B. fold q in B.
    set (g := pr M n s E - _) in *. set (x := ofQ (per_denominator _ _) : F) in *. clearbody g x q.
    assert (R0 : 0 <= (ofQ r : F)) by (apply ofQ_ge0; now apply Qlt_le_weak).
    apply le_by with (inv q * ((q * g - (x * q - ofQ r)) + (q - 1) * ofQ r)); [field; now apply lt_neq |].
    apply le_mul; [now apply lt_le, inv_gt0 |]. apply add_ge0; [now apply sub_ge0 |].
    apply le_mul; [now apply sub_ge0 | assumption].
  - apply Pos.eqb_neq in Lab. exists 1%nat, (fun w => match w with x :: _ => Pos.eqb x (label M s) | [] => false end).
    assert (Ps : pr M 1 s (fun w => match w with x :: _ => Pos.eqb x (label M s) | [] => false end) = (1 : F)).
    { simpl. rewrite Pos.eqb_refl. now apply eval_row_const. }
    assert (Pt : pr M 1 t (fun w => match w with x :: _ => Pos.eqb x (label M s) | [] => false end) = (0 : F)).
    { simpl. replace (Pos.eqb (label M t) (label M s)) with false by (symmetry; apply Pos.eqb_neq; congruence).
      now apply eval_row_const. }
    rewrite Ps, Pt, ofQ_sub, ofQ_1. apply le_by with (ofQ r : F); [ring | apply ofQ_ge0; now apply Qlt_le_weak].
Qed.
End Soundness.

Theorem check_delta_sound x : check_delta x = true ->
  chain_ok (chain_of (x_model x)) /\ (1 <= x_alpha_upper x)%Q /\
  forall c, In c (x_claims x) -> delta_claim_holds (chain_of (x_model x)) (x_alpha_upper x) (x_alpha_lower x) c.
Proof.
  unfold check_delta. set (C := chain_of (x_model x)). set (rep := representative (x_merged x)).
  set (M := merged_chain C rep). set (R := find2 (build2 (x_ratios x))). set (nodes := build (x_nodes x)).
  set (al := Qred (x_alpha_lower x)). set (au := Qred (x_alpha_upper x)). cbv zeta.
  rewrite !andb_true_iff. intros (((A1 & A2) & Ok) & Mg & (Ce & Ra) & Nodes & Cl).
  apply Qle_bool_iff in A1. apply check_chain_ok in Ok. apply check_merged_ok in Mg; destruct Mg as [Mg M_ok].
  apply (check_ratios_ok (M := M) (known := knows M) (knows_ok (C := M))) in Ra. fold R in Ra.
  set (beta := match x_ceiling x with Some c => Some (ce_alpha c) | None => None end) in *.
  set (D := ceiling_at _) in *.
  assert (Listed : forall v n, PositiveMap.find v nodes = Some n -> In (v, n) (x_nodes x)) by (intros v n; apply build_found).
  assert (Ceil : forall (F : OrderedField) a, beta = Some a -> ceiling F M a D).
  { intros F a B. unfold beta, D in *. destruct (x_ceiling x) as [c |]; [| easy]. injection B as <-.
    unfold check_ceiling in Ce. rewrite !andb_true_iff, forallb_forall in Ce. destruct Ce as [[Ca Cu] Cb].
    apply Qle_bool_iff in Ca. apply (check_upper_table_ok (knows_ok (C := M))) in Cu.
    match type of Cu with upper_rules _ _ _ ?T => apply (@ceiling_of_a_table F M M_ok _ _ T Ca) end.
    - intros s t Hs Ht; destruct (Cu s t Hs Ht) as [U0 [U | [U | (U1 & U2 & _)]]]; split; auto.
      right; right; repeat split; auto; discriminate.
    - intros i j Hi Hj. unfold ceiling_at. destruct (find2 (build2 (ce_bounds c)) i j) as [v |] eqn:Fd; [left | right; apply Qle_refl].
      apply build2_found in Fd. specialize (Cb _ Fd). rewrite !andb_true_iff in Cb. destruct Cb as [_ Cb]. now apply Qle_bool_iff. }
  assert (Au : (au == x_alpha_upper x)%Q) by apply Qred_correct.
  assert (Al : (al == x_alpha_lower x)%Q) by apply Qred_correct.
  split; [assumption | split; [now rewrite <- Au |]].
  intros c Ic. rewrite forallb_forall in Cl. specialize (Cl c Ic). unfold check_delta_claim in Cl.
  rewrite !andb_true_iff in Cl. destruct Cl as ((((((Ks & Kt) & L0) & _) & U1) & Up) & Lo).
  apply knows_ok in Ks, Kt. apply Qle_bool_iff in L0, U1.
  destruct (Mg _ Ks) as (Rs & _ & _). destruct (Mg _ Kt) as (Rt & _ & _).
  unfold delta_claim_holds. split; [assumption | split; [assumption |]].
  intros F a Ha1 Ha2.
  pose proof (fun v u => @nodes_bound_from_above M (knows M) (knows_ok (C := M)) nodes beta D R F M_ok (x_nodes x) Listed (Ceil F) Ra Nodes v u) as Above.
  pose proof (fun v z => @nodes_bound_from_below M (knows M) (knows_ok (C := M)) nodes beta D R F M_ok (x_nodes x) Listed Nodes v z) as Below.
  rewrite <- (ofQ_eq F Au) in Ha1. rewrite <- (ofQ_eq F Al) in Ha2.
  assert (Same : forall n s E, In s (states C) -> pr C n s E = (pr M n (rep s) E : F)) by (intros; now apply merging_keeps_events).
  split.
  - assert (Dir : forall s t, In s (states C) -> In t (states C) ->
      (Qltb (dc_upper c) 1 = true -> (proved_above M nodes (x_nodes x) au (rep s) (rep t) <= dc_upper c)%Q) ->
      forall n E, le (sub (pr C n s E : F) (mul a (pr C n t E))) (ofQ (dc_upper c))).
    { intros s t Hs Ht Pv n E. destruct (Mg _ Hs) as (Rs' & _ & _). destruct (Mg _ Ht) as (Rt' & _ & _).
      rewrite !Same by assumption. destruct (Qltb (dc_upper c) 1) eqn:B.
      - eapply le_trans; [now apply (larger_alpha M_ok (alpha_upper := au)) |].
        apply le_trans with (ofQ (proved_above M nodes (x_nodes x) au (rep s) (rep t))); [| now apply ofQ_le, Pv].
        now apply proved_above_ok.
      - apply le_trans with one; [now apply (gains_at_most_1 M_ok A1) |].
        rewrite <- ofQ_1; apply ofQ_le. apply Qnot_lt_le; intro N; apply Qltb_lt in N; congruence. }
    intros n E; split; apply Dir; auto; intro B; rewrite B, andb_true_iff in Up; destruct Up; now apply Qle_bool_iff.
  - intros r Hr. destruct (Qltb 0 (dc_lower c)) eqn:B.
    + unfold check_below in Lo. destruct (dc_direction c) as [[d1 d2] |]; [| easy].
      rewrite andb_true_iff in Lo; destruct Lo as [Or Lo].
      assert (Hd : (d1 = dc_from c /\ d2 = dc_to c) \/ (d1 = dc_to c /\ d2 = dc_from c)).
      { rewrite orb_true_iff, !andb_true_iff, !Pos.eqb_eq in Or; tauto. }
      assert (Hd1 : In d1 (states C)) by (destruct Hd as [[-> _] | [-> _]]; assumption).
      assert (Hd2 : In d2 (states C)) by (destruct Hd as [[_ ->] | [_ ->]]; assumption).
      destruct (Mg _ Hd1) as (R1 & _ & _). destruct (Mg _ Hd2) as (R2 & _ & _).
      assert (G : exists n E, le (ofQ (dc_lower c - r)) (sub (pr M n (rep d1) E) (mul (ofQ al) (pr M n (rep d2) E)) : F)).
      { destruct (dc_event c) as [e |].
        - destruct (dc_probabilities c) as [p |]; [| easy]. rewrite andb_true_iff in Lo; destruct Lo as [Ev Le].
          apply Qle_bool_iff in Le.
          destruct (event_gains F M_ok al R1 R2 Hr Ev) as (n & E & K). exists n, E.
          apply le_trans with (2 := K). apply ofQ_le. lra.
        - apply Qle_bool_iff in Lo. destruct (proved_below_ok (F := F) M_ok (x_nodes x) al Below R1 R2 Hr) as (n & E & K).
          exists n, E. apply le_trans with (2 := K). apply ofQ_le. lra. }
      destruct G as (n & E & G). exists n, E.
      assert (G' : le (ofQ (dc_lower c - r)) (sub (pr C n d1 E) (mul a (pr C n d2 E)) : F)).
      { rewrite !Same by assumption. apply le_trans with (1 := G). now apply (smaller_alpha M_ok (alpha_lower := al)). }
      destruct Hd as [[-> ->] | [-> ->]]; [now left | now right].
    + exists O, (fun _ => false); left. apply le_trans with (ofQ (0 - r)); [| now apply nothing_gained].
      apply ofQ_le. assert (dc_lower c <= 0)%Q by (apply Qnot_lt_le; intro N; apply Qltb_lt in N; congruence). lra.
Qed.
