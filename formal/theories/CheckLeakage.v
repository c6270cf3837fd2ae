(** * Certificates of leakage, proved, for tv, bayes, min-entropy and g (docs/certificates/leakage.md) *)

From Coq Require Import ZArith QArith List Bool FMapPositive Field Lia Lqa.
From Bisimdist Require Import OrderedField Combination Chain Delta Ratios Leakage Tables CheckChain Check CheckDelta.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Inductive leak_bound :=
| Follows
| Columns
| Rest
| Ahead (line : nat) (covers : list (nat * list (positive * positive * Q))).

Record leak_node := {
  l_columns : list (positive * list Q);  (* by state its masses in all rows *)
  l_then : option (list (positive * positive));  (* by label the node that follows *)
  l_upper : option Q;
  l_bound : leak_bound;
  l_lower : option Q;
  l_stop : bool
}.

(** What is leaked of what. *)
Inductive worlds :=
| Pair (s t : positive)  (* tv *)
| Secrets (prior : list (positive * Q)) (normed : bool)  (* bayes, or min-entropy *)
| Gains (prior : list (positive * Q)) (guesses : list (list (positive * Q))).  (* g: by guess and secret what is gained *)

Definition guess_row (prior gain : list (positive * Q)) : list (positive * Q) :=
  let gained := build gain in map (fun e => (fst e, Qred (snd e * find_or 0%Q gained (fst e)))) prior.

Record leak_claim := {
  lc_about : worlds;
  lc_nodes : list (positive * positive);  (* by first label the node *)
  lc_lower : Q;
  lc_upper : option Q
}.

Record leak_certificate := {
  lx_model : model;
  lx_width : nat;
  lx_ratios : list (positive * positive * Q);
  lx_nodes : list (positive * leak_node);
  lx_claims : list leak_claim
}.

Definition bestQ (l : list Q) : Q := fold_right (fun x m => if Qle_bool x m then m else x) 0%Q l.
Definition rows_at (width : nat) (columns : list (positive * list Q)) : rows_of :=
  map (fun k => map (fun e => (fst e, nth k (snd e) 0%Q)) columns) (seq 0 width).

(** ** Rows that are those of a node, times a factor *)
Fixpoint factor_of (M N : rows_of) : Q :=
  match M, N with
  | m :: M', n :: N' => match nonzero n with
      | (s, q) :: _ => match find (fun e => Pos.eqb (fst e) s) (norm m) with Some e => Qred (snd e / q) | None => 0%Q end
      | [] => factor_of M' N'
      end
  | _, _ => 0%Q
  end.

Fixpoint same_rows (x : Q) (M N : rows_of) : bool :=
  match M, N with
  | [], [] => true
  | m :: M', n :: N' => all_zero (m ++ scale (- x) n) && same_rows x M' N'
  | _, _ => false
  end.

Section Graph.
Variable C : chain.
Variable known_state : positive -> bool.
Variable R : positive -> positive -> option Q.
Variable width : nat.
Variable nodes : table leak_node.

Definition node_rows (v : positive) : rows_of :=
  match PositiveMap.find v nodes with Some n => rows_at width (l_columns n) | None => [] end.
Definition node_upper (v : positive) : option Q := match PositiveMap.find v nodes with Some n => l_upper n | None => None end.
Definition node_lower (v : positive) : option Q := match PositiveMap.find v nodes with Some n => l_lower n | None => None end.

Definition edge := (positive * (Q * positive))%type.

(** The rows of each label are those of a node, or nothing (rule V3). *)
Definition split (M : rows_of) (then_ : list (positive * positive)) : list edge :=
  map (fun e => (fst e, (factor_of (map (of_label C (fst e)) M) (node_rows (snd e)), snd e))) then_.

Definition check_edge (M : rows_of) (e : edge) : bool :=
  let '(l, (x, w)) := e in
  match PositiveMap.find w nodes with Some n => forallb (fun c => existsb (fun q => negb (Qeq_bool q 0)) (snd c)) (l_columns n) | None => false end &&
  Qltb 0 x && same_rows x (map (of_label C l) M) (node_rows w).

Definition other_labels (then_ : list (positive * positive)) (r : list (positive * Q)) : list (positive * Q) :=
  let named := build then_ in
  filter (fun e => match PositiveMap.find (label C (fst e)) named with Some _ => false | None => true end) r.

Definition check_split (M : rows_of) (then_ : list (positive * positive)) : bool :=
  none_twice (PositiveMap.empty unit) (map fst then_) && forallb (check_edge M) (split M then_) &&
  forallb (fun r => all_zero (other_labels then_ r)) M.

Definition images (M : rows_of) : rows_of := map (fun r => norm (image C r)) M.

Definition edges_of (n : leak_node) : option (list edge) :=
  match l_then n with
  | Some t => Some (split (images (rows_at width (l_columns n))) t)
  | None => None
  end.

(** The sum of factors times bounds; None where a node has none. *)
Fixpoint weighed (bound : positive -> option Q) (edges : list edge) : option Q :=
  match edges with
  | [] => Some 0%Q
  | (_, (x, w)) :: l => match bound w, weighed bound l with Some y, Some z => Some (Qred (x * y + z)) | _, _ => None end
  end.

Definition at_most (x : option Q) (y : Q) : bool := match x with Some z => Qleb z y | None => false end.

(** ** Bounds from above (rules V4 and V5) *)
Definition part_of (totals image : list Q) : Q :=
  match find (fun e => negb (Qeq_bool (fst e) 0)) (combine totals image) with Some e => Qred (snd e / fst e) | None => 0%Q end.

Definition totals_of (v : positive) : list Q := map (@total positive) (node_rows v).

Definition kept (totals : list Q) (e : edge) : option Q :=
  let '(_, (x, w)) := e in
  let image := map (fun y => Qred (x * y)) (totals_of w) in
  let p := part_of totals image in
  if match PositiveMap.find w nodes with Some n => match l_bound n, l_upper n with Rest, Some _ => true | _, _ => false end | None => false end
     && Qleb 0 p && Nat.eqb (length image) (length totals)
     && forallb (fun y => Qeqb (fst y) (p * snd y)) (combine image totals)
  then Some p else None.

Fixpoint all_kept (totals : list Q) (edges : list edge) : option Q :=
  match edges with
  | [] => Some 0%Q
  | e :: l => match kept totals e, all_kept totals l with Some p, Some q => Some (Qred (p + q)) | _, _ => None end
  end.

Definition check_ahead (M : rows_of) (states_named : positive -> bool) (line : nat) (covers : list (nat * list (positive * positive * Q))) : bool :=
  let lines := [] :: M in
  let lead := nth line lines [] in
  Nat.leb line width &&
  forallb (fun k =>
    let moves := match find (fun c => Nat.eqb (fst c) k) covers with Some c => snd c | None => [] end in
    forallb (fun m => states_named (fst (fst m)) && states_named (snd (fst m)) && Qleb 0 (snd m) &&
      known_state (fst (fst m)) && known_state (snd (fst m)) &&
      match R (fst (fst m)) (snd (fst m)) with Some _ => true | None => false end) moves &&
    all_ge0 (covering R moves ++ scale (- (1)) (nth k lines [] ++ scale (- (1)) lead))) (seq 0 (S width)).

Definition check_leak_upper (n : leak_node) (u : Q) : bool :=
  let M := rows_at width (l_columns n) in
  let totals := map (@total positive) M in
  Qleb (bestQ totals) u &&
  match l_bound n with
  | Follows => match edges_of n with Some e => at_most (weighed node_upper e) u | None => false end
  | Columns => Qleb (fold_right (fun c x => Qred (bestQ (snd c) + x)) 0%Q (l_columns n)) u
  | Rest => match edges_of n with
      | Some e => match all_kept totals e with Some p => forallb (fun t => Qeqb (p * t) t) totals | None => false end
      | None => false
      end
  | Ahead line covers =>
      let named := build (l_columns n) in
      check_ahead M (fun s => match PositiveMap.find s named with Some _ => true | None => false end) line covers
  end.

(** ** Bounds from below (rule V6, without cycles) *)
Definition check_leak_lower (v : positive) (n : leak_node) (z : Q) : bool :=
  match l_stop n, edges_of n with
  | false, Some e => forallb (fun e => Pos.ltb (snd (snd e)) v) e && match weighed node_lower e with Some y => Qleb z y | None => false end
  | _, _ => Qleb z (bestQ (map (@total positive) (rows_at width (l_columns n))))
  end.

Definition check_leak_node (e : positive * leak_node) : bool :=
  let '(v, n) := e in
  forallb (fun c => known_state (fst c) && Nat.eqb (length (snd c)) width) (l_columns n) &&
  match l_then n with Some t => check_split (images (rows_at width (l_columns n))) t | None => true end &&
  match l_upper n with Some u => check_leak_upper n u | None => true end &&
  match l_lower n with Some z => check_leak_lower v n z | None => true end.

(** ** Claims (rules V1 and C1) *)
Definition first_of (a : worlds) : list (positive * Q) :=
  match a with
  | Pair _ _ => []
  | Secrets (e :: _) _ => [e]
  | Secrets [] _ => []
  | Gains prior (g :: _) => guess_row prior g
  | Gains _ [] => []
  end.
Definition others_of (a : worlds) : rows_of :=
  match a with
  | Pair s t => [[(s, 1%Q); (t, (- (1))%Q)]]
  | Secrets (_ :: l) _ => map (fun e => [e]) l
  | Secrets [] _ => []
  | Gains prior (_ :: l) => map (guess_row prior) l
  | Gains _ [] => []
  end.

(** What the sum over traces is divided by. *)
Definition divisor (a : worlds) : Q := match a with Secrets prior true => bestQ (map snd prior) | _ => 1%Q end.

Definition differences (a : worlds) : rows_of := map (fun r => r ++ scale (- (1)) (first_of a)) (others_of a).

Definition is_distribution (prior : list (positive * Q)) : bool :=
  forallb (fun e => known_state (fst e) && Qleb 0 (snd e)) prior && Qeqb (total prior) 1.

Definition check_worlds (a : worlds) : bool :=
  match a with
  | Pair s t => known_state s && known_state t
  | Secrets prior _ => is_distribution prior && Nat.eqb (S width) (length prior)
  | Gains prior guesses => is_distribution prior && Nat.eqb (S width) (length guesses)
  end.

Definition positive_part (r : list (positive * Q)) : list (positive * Q) := map (fun e => (fst e, if Qle_bool 0 (snd e) then snd e else 0%Q)) r.

(** More than which nothing leaks: the sum of what is positive. *)
Definition most (a : worlds) : Q := total (flat_map positive_part (first_of a :: others_of a)).

Definition has_most (a : worlds) : bool := match a with Pair _ _ => true | Secrets _ normed => negb normed | Gains _ _ => false end.

Definition labels_in (M : rows_of) : list positive := nodup Pos.eq_dec (map (fun e => label C (fst e)) (concat M)).

(** What is known from below of the rows of one label. *)
Definition below (D : rows_of) (nodes_at : list (positive * positive)) (l : positive) : Q :=
  let D_l := map (of_label C l) D in
  let seen := bestQ (map (@total positive) D_l) in
  match find (fun e => Pos.eqb (fst e) l) nodes_at with
  | Some e =>
      let x := factor_of D_l (node_rows (snd e)) in
      if check_edge D (l, (x, snd e)) then match node_lower (snd e) with Some z => let y := Qred (x * z) in if Qle_bool seen y then y else seen | None => seen end
      else seen
  | None => seen
  end.

Definition check_leak_claim (c : leak_claim) : bool :=
  let a := lc_about c in
  let D := differences a in
  let offset := total (first_of a) in
  check_worlds a && Qltb 0 (divisor a) &&
  Qleb (lc_lower c * divisor a) (fold_right (fun l x => Qred (below D (lc_nodes c) l + x)) offset (labels_in D)) &&
  match lc_upper c with
  | None => true
  | Some u =>
      has_most a && Qleb 1 u && Qleb (most a) (u * divisor a)
      || check_split D (lc_nodes c) &&
         match weighed node_upper (split D (lc_nodes c)) with Some y => Qleb (offset + y) (u * divisor a) | None => false end
  end.
End Graph.

Definition check_leakage (x : leak_certificate) : bool :=
  let C := chain_of (lx_model x) in
  check_chain (lx_model x) C &&
  let known := knows C in
  let R := find2 (build2 (lx_ratios x)) in
  forallb (check_ratio C known R) (lx_ratios x) &&
  let nodes := build (lx_nodes x) in
  forallb (check_leak_node C known R (lx_width x) nodes) (lx_nodes x) &&
  forallb (check_leak_claim C known (lx_width x) nodes) (lx_claims x).

(** What a claim says: what is leaked by the first n labels is at most [upper] for every n, and at least [lower] for some. *)
Definition leak_claim_holds (C : chain) (c : leak_claim) : Prop :=
  let a := lc_about c in
  forall F : OrderedField,
    (forall u, lc_upper c = Some u -> forall n, le (leaked F C (first_of a) (others_of a) (S n)) (mul (ofQ u) (ofQ (divisor a)))) /\
    exists n, le (mul (ofQ (lc_lower c)) (ofQ (divisor a))) (leaked F C (first_of a) (others_of a) (S n)).

Section Soundness.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.
Variable C : chain.
Hypothesis C_ok : chain_ok C.
Variable known_state : positive -> bool.
Hypothesis known_ok : forall s, known_state s = true -> In s (states C).
Variable R : positive -> positive -> option Q.
Hypothesis R_ok : ratios_ok C R.
Variable width : nat.
Variable listed : list (positive * leak_node).
Let nodes := build listed.
Hypothesis nodes_ok : forallb (check_leak_node C known_state R width nodes) listed = true.

Notation value := (value F C).
Notation rows := (node_rows width nodes).
Let L := all_labels C.

(** ** Sums and bests in rationals *)
Lemma best_map l : ofQ (bestQ l) = best (map (fun q => ofQ q : F) l).
Proof. induction l as [| q l IH]; simpl; [apply ofQ_0 |]. rewrite <- IH. unfold larger.
  destruct (Qle_bool q (bestQ l)) eqn:E.
  - apply Qle_bool_iff, (@ofQ_le F) in E. destruct (le_dec _ _); [reflexivity | contradiction].
  - destruct (le_dec (ofQ q) (ofQ (bestQ l))) as [H |]; [| reflexivity]. exfalso.
    assert (K : (bestQ l < q)%Q) by (apply Qnot_le_lt; intro N; apply Qle_bool_iff in N; congruence).
    now apply (@ofQ_lt F) in K. Qed.

Lemma seen_ok M : gained M (fun _ => 1) = (ofQ (bestQ (map (@total positive) M)) : F).
Proof. rewrite best_map, map_map. unfold gained. f_equal. apply map_ext. intro r. rewrite eval_const. ring. Qed.

Lemma bestQ_ge0 l : (0 <= bestQ l)%Q.
Proof. induction l as [| x l IH]; simpl; [apply Qle_refl |]. destruct (Qle_bool x (bestQ l)) eqn:E; [assumption |].
  apply Qle_trans with (1 := IH), Qlt_le_weak, Qnot_le_lt. intro N; apply Qle_bool_iff in N; congruence. Qed.

Lemma bestQ_nth l k : (nth k l 0 <= bestQ l)%Q.
Proof. revert k; induction l as [| x l IH]; intros [| k]; simpl; try apply Qle_refl.
  - destruct (Qle_bool x (bestQ l)) eqn:E; [now apply Qle_bool_iff | apply Qle_refl].
  - apply Qle_trans with (1 := IH k). destruct (Qle_bool x (bestQ l)) eqn:E; [apply Qle_refl |].
    apply Qlt_le_weak, Qnot_le_lt. intro N; apply Qle_bool_iff in N; congruence. Qed.

(** ** What follows *)
Lemma value_same M N n : (forall g : positive -> F, map (fun r => eval r g) M = map (fun r => eval r g) N) -> value n M = value n N.
Proof. intro H. apply sum_ext. intros w _. unfold gained. now rewrite H. Qed.

Lemma same_rows_ok x M : forall N, same_rows x M N = true -> scaled F x M N.
Proof. induction M as [| m M IH]; intros [| n N] H g; simpl in *; try easy.
  rewrite andb_true_iff in H; destruct H as [Z H]. f_equal; [| now apply IH].
  apply all_zero_ok with (f := g) in Z. rewrite eval_app, eval_scale, ofQ_opp in Z.
  replace (eval m g) with (eval m g + - ofQ x * eval n g + ofQ x * eval n g) by ring. rewrite Z; ring. Qed.

Lemma check_edge_ok M l x w n : check_edge C width nodes M (l, (x, w)) = true ->
  (0 <= x)%Q /\ value n (map (of_label C l) M) = ofQ x * value n (rows w).
Proof. unfold check_edge. rewrite !andb_true_iff. intros [[_ X] S]. apply Qltb_lt in X.
  split; [now apply Qlt_le_weak |]. apply scaled_value; [now apply Qlt_le_weak | now apply same_rows_ok]. Qed.

Lemma no_label M l n : known C M -> ~ In l L -> value n (map (of_label C l) M) = 0.
Proof. intros K N. apply nothing_value. intros r g I. apply in_map_iff in I; destruct I as (r' & <- & I).
  rewrite eval_of_label. rewrite (eval_ext (g := fun _ => 0)); [rewrite eval_const; ring |].
  intros s q Is. destruct (Pos.eqb_spec (label C s) l) as [E |]; [| reflexivity]. exfalso; apply N.
  destruct (label_once (K r' I s q Is)) as [_ J]. now rewrite E in J. Qed.

Lemma other_zero then_ r l (g : positive -> F) : all_zero (other_labels C then_ r) = true -> ~ In l (map fst then_) ->
  eval (of_label C l r) g = 0.
Proof.
  intros Z N. apply all_zero_ok with (f := fun t => if Pos.eqb (label C t) l then g t else 0) in Z.
  rewrite <- Z, eval_of_label. clear Z. unfold other_labels. induction r as [| [s q] r IH]; simpl; [reflexivity |].
  destruct (PositiveMap.find (label C s) (build then_)) eqn:E; simpl; rewrite IH; [| reflexivity].
  destruct (Pos.eqb_spec (label C s) l) as [<- |]; [| ring]. exfalso; apply N.
  apply build_found in E. now apply in_map with (f := fst) in E. Qed.

Lemma sum_picked (es : list edge) (f : edge -> F) e : NoDup (map fst es) -> In e es ->
  sum (map (fun e' => if Pos.eqb (fst e') (fst e) then f e' else 0) es) = f e.
Proof.
  induction es as [| d es IH]; simpl; intros N I; [easy |]. inversion N as [| ? ? N1 N2]; subst.
  destruct I as [-> | I].
  - rewrite Pos.eqb_refl. rewrite (sum_ext (g := fun _ => 0 * 0)); [rewrite sum_mul; ring |].
    intros d Id. destruct (Pos.eqb_spec (fst d) (fst e)) as [E |]; [| ring]. exfalso; apply N1. rewrite <- E. now apply in_map.
  - destruct (Pos.eqb_spec (fst d) (fst e)) as [E |]; [exfalso; apply N1; rewrite E; now apply in_map |].
    rewrite IH by assumption. ring. Qed.

(** The rows of all labels together are worth what the nodes are worth. *)
Lemma split_value M then_ n : known C M -> check_split C width nodes M then_ = true ->
  (forall e, In e (split C width nodes M then_) -> (0 <= fst (snd e))%Q) /\
  sum (map (fun l => value n (map (of_label C l) M)) L)
  = sum (map (fun e : edge => ofQ (fst (snd e)) * value n (rows (snd (snd e)))) (split C width nodes M then_)).
Proof.
  intros K H. unfold check_split in H. rewrite !andb_true_iff, !forallb_forall in H. destruct H as [[N E] Z].
  apply none_twice_ok in N; destruct N as [N _]. set (es := split C width nodes M then_) in *.
  assert (Fst : map fst es = map fst then_) by (unfold es, split; rewrite map_map; reflexivity).
  assert (V : forall e, In e es -> (0 <= fst (snd e))%Q /\
    value n (map (of_label C (fst e)) M) = ofQ (fst (snd e)) * value n (rows (snd (snd e)))).
  { intros [l [x w]] I. apply (check_edge_ok n (E _ I)). }
  split; [intros e I; now apply V |].
  transitivity (sum (map (fun l => sum (map (fun e : edge => if Pos.eqb (fst e) l then value n (map (of_label C (fst e)) M) else 0) es)) L)).
  - apply sum_ext. intros l Il. destruct (in_dec Pos.eq_dec l (map fst es)) as [I | I].
    + apply in_map_iff in I; destruct I as (e & <- & I). symmetry.
      apply (sum_picked (fun e => value n (map (of_label C (fst e)) M))); [now rewrite Fst | assumption].
    + rewrite nothing_value.
      * rewrite (sum_ext (g := fun _ => 0 * 0)); [rewrite sum_mul; ring |]. intros e Ie.
        destruct (Pos.eqb_spec (fst e) l) as [<- |]; [exfalso; now apply I, in_map | ring].
      * intros r g Ir. apply in_map_iff in Ir; destruct Ir as (r' & <- & Ir). apply other_zero with then_; auto. now rewrite <- Fst.
  - rewrite sum_swap. apply sum_ext. intros e Ie. destruct (V e Ie) as [_ Ve].
    destruct (in_dec Pos.eq_dec (fst e) L) as [I | I].
    + rewrite <- Ve. apply sum_once; [apply NoDup_nodup | assumption].
    + rewrite <- Ve. rewrite (no_label n K I). rewrite (sum_ext (g := fun _ => 0 * 0)); [rewrite sum_mul; ring |].
      intros l _. destruct (Pos.eqb _ _); ring.
Qed.

Lemma weighed_ok bound edges y : weighed bound edges = Some y ->
  (forall e, In e edges -> exists z, bound (snd (snd e)) = Some z) /\
  ofQ y = sum (map (fun e : edge => ofQ (fst (snd e)) * ofQ (match bound (snd (snd e)) with Some z => z | None => 0%Q end)) edges) :> F.
Proof.
  revert y; induction edges as [| [l [x w]] es IH]; simpl; intros y H.
  - injection H as <-. split; [easy | apply ofQ_0].
  - destruct (bound w) as [z |] eqn:B; [| easy]. destruct (weighed bound es) as [y' |]; [| easy]. injection H as <-.
    destruct (IH _ eq_refl) as [A S]. split.
    + intros e [<- | I]; [now exists z | now apply A].
    + rewrite (ofQ_eq F (Qred_correct _)), ofQ_add, ofQ_mul, S. reflexivity.
Qed.

(** ** Nodes *)
Lemma node_checked v n : PositiveMap.find v nodes = Some n -> check_leak_node C known_state R width nodes (v, n) = true.
Proof. intro H. apply build_found in H. rewrite forallb_forall in nodes_ok. now apply nodes_ok. Qed.

Lemma rows_known cols : forallb (fun c => known_state (fst c) && Nat.eqb (length (snd c)) width) cols = true -> known C (rows_at width cols).
Proof. rewrite forallb_forall. intros H r I. unfold rows_at in I. apply in_map_iff in I; destruct I as (k & <- & _).
  intros s q I. apply in_map_iff in I; destruct I as (c & E & I). injection E as <- _.
  specialize (H c I). rewrite andb_true_iff in H. now apply known_ok. Qed.

Lemma node_known v : known C (rows v).
Proof. unfold node_rows. destruct (PositiveMap.find v nodes) as [n |] eqn:E; [| easy].
  apply node_checked in E. unfold check_leak_node in E. rewrite !andb_true_iff in E. now apply rows_known. Qed.

Lemma images_same l M (g : positive -> F) : map (fun r => eval r g) (step C l M) = map (fun r => eval r g) (map (of_label C l) (images C M)).
Proof. unfold step, images. rewrite !map_map. apply map_ext. intro r. now rewrite !eval_of_label, eval_norm. Qed.

Lemma images_known M : known C M -> known C (images C M).
Proof. intros H r I. apply in_map_iff in I; destruct I as (r' & <- & I). intros s q Is. destruct (norm_keys Is) as [p J].
  now apply (image_inside C_ok (H r' I) J). Qed.

Lemma node_follows v n t k : PositiveMap.find v nodes = Some n -> l_then n = Some t ->
  let es := split C width nodes (images C (rows_at width (l_columns n))) t in
  (forall e, In e es -> (0 <= fst (snd e))%Q) /\
  value (S k) (rows v) = sum (map (fun e : edge => ofQ (fst (snd e)) * value k (rows (snd (snd e)))) es).
Proof.
  intros E T es. pose proof (node_checked E) as Ck. unfold check_leak_node in Ck. rewrite !andb_true_iff, T in Ck.
  destruct Ck as [[[Kn Sp] _] _]. apply rows_known in Kn.
  assert (Rv : rows v = rows_at width (l_columns n)) by (unfold node_rows; now rewrite E).
  destruct (split_value k (images_known Kn) Sp) as [P V]. split; [exact P |]. unfold es. rewrite <- V, value_step, Rv.
  apply sum_ext. intros l _. apply value_same. intro g. apply images_same.
Qed.

(** *** From above *)
Lemma value_seen M : value 0 M = ofQ (bestQ (map (@total positive) M)).
Proof. rewrite value_0. apply seen_ok. Qed.

Lemma total_map (cols : list (positive * list Q)) : fold_right (fun c x => Qred (bestQ (snd c) + x))%Q 0%Q cols = total (map (fun c => (fst c, bestQ (snd c))) cols).
Proof. induction cols as [| c l IH]; simpl; [reflexivity | now rewrite IH]. Qed.

Lemma sums_to_total r n : inside C r -> sum (map (fun w => eval r (after F C w)) (words C n)) = (ofQ (total r) : F).
Proof. intro H. rewrite sum_eval. rewrite (eval_ext (g := fun _ => 1)); [rewrite eval_const; ring |].
  intros s q I. apply (after_sum F C_ok n (H s q I)). Qed.

Lemma columns_bound cols n : forallb (fun c => known_state (fst c) && Nat.eqb (length (snd c)) width) cols = true ->
  value n (rows_at width cols) <= ofQ (fold_right (fun c x => Qred (bestQ (snd c) + x))%Q 0%Q cols).
Proof.
  intro H. rewrite forallb_forall in H.
  assert (K : forall c, In c cols -> In (fst c) (states C)) by (intros c I; specialize (H c I); rewrite andb_true_iff in H; now apply known_ok).
  set (r := map (fun c => (fst c, bestQ (snd c))) cols).
  assert (Kr : inside C r). { intros s q I. apply in_map_iff in I; destruct I as (c & E & I). injection E as <- _. now apply K. }
  rewrite total_map. fold r. rewrite <- (sums_to_total n Kr). apply sum_le. intros w _.
  assert (A : forall c, In c cols -> 0 <= after F C w (fst c)) by (intros c I; apply (after_ge0 F C_ok); now apply K).
  unfold gained. apply best_lub.
  - apply eval_ge0; intros s q I; apply in_map_iff in I; destruct I as (c & E & I); injection E as <- <-; [apply bestQ_ge0 | now apply A].
  - intros x I. apply in_map_iff in I; destruct I as (r' & <- & I). unfold rows_at in I. apply in_map_iff in I; destruct I as (k & <- & _).
    unfold r. clear H K r Kr. induction cols as [| c l IH]; simpl; [apply le_refl |]. apply le_add2.
    + apply le_by with ((ofQ (bestQ (snd c)) - ofQ (nth k (snd c) 0%Q)) * after F C w (fst c)); [ring |].
      apply le_mul; [apply sub_ge0, ofQ_le, bestQ_nth | apply A; now left].
    + apply IH. intros c' I; apply A; now right.
Qed.

(** A word is an event. *)
Lemma pr_nothing n s : In s (states C) -> pr C n s (fun _ => false) = (0 : F).
Proof. revert s; induction n as [| n IH]; intros s Hs; simpl; [reflexivity |].
  rewrite (eval_row_ext C_ok Hs (g := fun _ => 0)); [now apply eval_row_const | auto]. Qed.

Lemma is_word_cons l w v : is_word (l :: w) (l :: v) = is_word w v.
Proof. unfold is_word. destruct (list_eq_dec Pos.eq_dec (l :: w) (l :: v)), (list_eq_dec Pos.eq_dec w v); congruence. Qed.

Lemma is_word_other l a w v : a <> l -> is_word (l :: w) (a :: v) = false.
Proof. intro N. unfold is_word. destruct (list_eq_dec Pos.eq_dec (l :: w) (a :: v)); congruence. Qed.

Lemma pr_word n : forall l w s, length w = n -> In s (states C) ->
  pr C (S n) s (is_word (l :: w)) = if Pos.eqb (label C s) l then after F C w s else 0.
Proof.
  induction n as [| n IH]; intros l w s Len Hs.
  - destruct w; [| easy]. simpl. destruct (Pos.eqb_spec (label C s) l) as [-> | N].
    + rewrite is_word_cons. simpl. now apply eval_row_const.
    + rewrite is_word_other by assumption. now apply eval_row_const.
  - destruct w as [| l' w]; [easy |]. injection Len as Len.
    change (eval (row C s) (fun t => pr C (S n) t (fun v => is_word (l :: l' :: w) (label C s :: v))) = (if Pos.eqb (label C s) l then after F C (l' :: w) s else 0)).
    destruct (Pos.eqb_spec (label C s) l) as [-> | N].
    + simpl after. apply (eval_row_ext C_ok Hs). intros t Ht. rewrite <- (IH l' w t Len Ht). apply pr_ext. intro v. apply is_word_cons.
    + rewrite (eval_row_ext C_ok Hs (g := fun _ => 0)); [now apply eval_row_const |].
      intros t Ht. rewrite <- (pr_nothing (S n) Ht). apply pr_ext. intro v. now apply is_word_other.
Qed.

Definition ends_in (w v : list positive) : bool := match v with _ :: v' => is_word w v' | [] => false end.

Lemma pr_ends w s : In s (states C) -> pr C (S (length w)) s (ends_in w) = after F C w s.
Proof. intro Hs.
  transitivity (pr C (S (length w)) s (is_word (label C s :: w)) : F).
  - simpl. apply (eval_row_ext C_ok Hs). intros t _. apply pr_ext. intro v. simpl. now rewrite is_word_cons.
  - rewrite pr_word by auto. now rewrite Pos.eqb_refl. Qed.

Lemma words_length n : forall w, In w (words C n) -> length w = n.
Proof. induction n as [| n IH]; simpl; intros w I; [destruct I as [<- | []]; reflexivity |].
  apply in_flat_map in I; destruct I as (l & _ & I). apply in_map_iff in I; destruct I as (w' & <- & I). simpl; now rewrite (IH w' I). Qed.

Lemma ahead_bound M named line covers n : known C M -> length M = width ->
  check_ahead known_state R width M named line covers = true -> value n M <= ofQ (bestQ (map (@total positive) M)).
Proof.
  intros K Len H. unfold check_ahead in H. set (lead := nth line ([] :: M) []) in *. rewrite andb_true_iff, forallb_forall in H.
  destruct H as [Ln H]. apply Nat.leb_le in Ln.
  assert (Kl : inside C lead /\ (lead = [] \/ In lead M)).
  { unfold lead. destruct line as [| k]; simpl; [split; [easy | now left] |].
    assert (I : In (nth k M []) M) by (apply nth_In; lia). split; [now apply K | now right]. }
  destruct Kl as [Kl Lead].
  assert (B : forall k w, (k <= width)%nat -> eval (nth k ([] :: M) []) (after F C w) <= eval lead (after F C w)).
  { intros k w Hk. assert (Ik : In k (seq 0 (S width))) by (apply in_seq; lia). specialize (H k Ik). rewrite andb_true_iff, forallb_forall in H.
    destruct H as [Mv A]. set (row := nth k ([] :: M) []) in *.
    assert (Kr : inside C row).
    { unfold row. destruct k as [| k]; simpl; [easy |]. apply K, nth_In. lia. }
    assert (Kc : inside C (row ++ scale (- (1)) lead)).
    { intros s q I. apply in_app_iff in I; destruct I as [I | I]; [now apply (Kr s q) |].
      apply in_map_iff in I; destruct I as ([t p] & E & I). injection E as <- _. now apply (Kl t p). }
    set (moves := match find _ covers with Some c => snd c | None => [] end) in *.
    assert (G : gains F C (row ++ scale (- (1)) lead) (S (length w)) (ends_in w) <= 0).
    { apply (@covers_bound F C C_ok R R_ok moves); auto. intros m Im. specialize (Mv m Im). rewrite !andb_true_iff in Mv.
      destruct Mv as [[[[_ W] Ki] Kj] _]. split; [now apply Qle_bool_iff | split; now apply known_ok]. }
    unfold gains in G. rewrite (eval_ext (g := after F C w)) in G.
    - rewrite eval_app, eval_scale, ofQ_opp, ofQ_1 in G. apply le_by with (0 - (eval row (after F C w) + - (1) * eval lead (after F C w))); [ring | now apply sub_ge0].
    - intros s q I. apply pr_ends. now apply (Kc s q). }
  apply le_trans with (sum (map (fun w => eval lead (after F C w)) (words C n))).
  - apply sum_le. intros w _. apply best_lub.
    + specialize (B 0%nat w (Nat.le_0_l _)). exact B.
    + intros x I. apply in_map_iff in I; destruct I as (r & <- & I). destruct (In_nth M r [] I) as (k & Hk & E).
      specialize (B (S k) w). simpl in B. rewrite E in B. apply B. lia.
  - rewrite (sums_to_total n Kl). destruct Lead as [-> | I].
    + simpl. apply ofQ_le. apply bestQ_ge0.
    + rewrite best_map. apply best_ge. rewrite map_map. now apply in_map with (f := fun r => ofQ (total r)).
Qed.

Lemma best_mul (c : F) l : 0 <= c -> best (map (fun y => c * y) l) = c * best l.
Proof.
  intro H. induction l as [| y l IH]; simpl; [ring |]. rewrite IH. unfold larger.
  destruct (le_dec (c * y) (c * best l)) as [A | A]; destruct (le_dec y (best l)) as [B | B]; try reflexivity.
  - apply le_antisym; [apply le_scale; [assumption | now apply lt_le] | assumption].
  - exfalso; apply A. now apply le_scale.
Qed.

Lemma equal_lists (f : Q -> F) l m : length l = length m -> forallb (fun y => Qeqb (fst y) (snd y)) (combine l m) = true ->
  map (fun q => ofQ q : F) l = map (fun q => ofQ q : F) m.
Proof. revert m; induction l as [| x l IH]; intros [| y m] Len H; simpl in *; try easy.
  rewrite andb_true_iff in H; destruct H as [E H]. apply Qeq_bool_iff in E. now rewrite (ofQ_eq F E), (IH m) by auto. Qed.

Lemma kept_list p l m : length l = length m -> forallb (fun y => Qeqb (fst y) (p * snd y)) (combine l m) = true ->
  map (fun q => ofQ q : F) l = map (fun t => ofQ p * t) (map (fun q => ofQ q : F) m).
Proof. revert m; induction l as [| x l IH]; intros [| y m] Len H; simpl in *; try easy.
  rewrite andb_true_iff in H; destruct H as [E H]. apply Qeq_bool_iff in E. now rewrite (ofQ_eq F E), ofQ_mul, (IH m) by auto. Qed.

Definition best_of (v : positive) : F := best (map (fun q => ofQ q : F) (totals_of width nodes v)).

Definition resting (v : positive) : Prop := exists n u, PositiveMap.find v nodes = Some n /\ l_bound n = Rest /\ l_upper n = Some u.

Lemma kept_ok totals l x w p : (0 <= x)%Q -> kept width nodes totals (l, (x, w)) = Some p ->
  resting w /\ (0 <= p)%Q /\ ofQ x * best_of w = ofQ p * best (map (fun q => ofQ q : F) totals).
Proof.
  intros X H. unfold kept in H. set (image := map (fun y => Qred (x * y)) (totals_of width nodes w)) in *.
  match type of H with (if ?b then _ else _) = _ => destruct b eqn:K; [| easy] end.
  injection H as <-. rewrite !andb_true_iff in K. destruct K as [[[B P] Len] E].
  apply Qle_bool_iff in P. apply Nat.eqb_eq in Len. split; [| split; [assumption |]].
  - destruct (PositiveMap.find w nodes) as [n |] eqn:Fd; [| easy]. exists n. destruct (l_bound n) eqn:Bd; try easy.
    destruct (l_upper n) as [u |] eqn:U; [| easy]. now exists u.
  - unfold best_of. rewrite <- !best_mul by now apply ofQ_ge0. rewrite <- (kept_list Len E). unfold image.
    rewrite !map_map. f_equal. apply map_ext. intro q. now rewrite (ofQ_eq F (Qred_correct _)), ofQ_mul.
Qed.

Lemma all_kept_ok totals es p : (forall e, In e es -> (0 <= fst (snd e))%Q) -> all_kept width nodes totals es = Some p ->
  (forall e, In e es -> resting (snd (snd e))) /\ (0 <= p)%Q /\
  sum (map (fun e : edge => ofQ (fst (snd e)) * best_of (snd (snd e))) es) = ofQ p * best (map (fun q => ofQ q : F) totals).
Proof.
  revert p; induction es as [| [l [x w]] es IH]; intros p X H; cbn [all_kept] in H.
  - injection H as <-. split; [intros e [] | split; [apply Qle_refl |]]. simpl. rewrite ofQ_0; ring.
  - destruct (kept width nodes totals (l, (x, w))) as [q |] eqn:K; [| easy].
    destruct (all_kept width nodes totals es) as [q' |]; [| easy]. injection H as <-.
    destruct (kept_ok (X _ (or_introl eq_refl)) K) as (Rw & Q0 & E).
    destruct (IH q' (fun e I => X e (or_intror I)) eq_refl) as (Re & Q0' & E').
    split; [intros e [<- | I]; [assumption | now apply Re] |]. split.
    + rewrite Qred_correct. lra.
    + simpl. simpl in E. rewrite E, E', (ofQ_eq F (Qred_correct _)), ofQ_add. ring.
Qed.

Lemma upper_checked v n u : PositiveMap.find v nodes = Some n -> l_upper n = Some u -> check_leak_upper C known_state R width nodes n u = true.
Proof. intros E U. apply node_checked in E. unfold check_leak_node in E. rewrite !andb_true_iff, U in E. tauto. Qed.

Lemma best_of_seen v : best_of v = ofQ (bestQ (map (@total positive) (rows v))).
Proof. unfold best_of, totals_of. now rewrite best_map. Qed.

Lemma rest_bound k : forall v, resting v -> value k (rows v) <= best_of v.
Proof.
  induction k as [| k IH]; intros v Rv.
  - rewrite value_seen, best_of_seen. apply le_refl.
  - destruct Rv as (n & u & E & B & U). pose proof (upper_checked E U) as Ck. unfold check_leak_upper in Ck. rewrite B in Ck.
    rewrite andb_true_iff in Ck; destruct Ck as [_ Ck]. unfold edges_of in Ck. destruct (l_then n) as [t |] eqn:T; [| easy].
    destruct (node_follows k E T) as [X V]. rewrite V. set (es := split C width nodes _ t) in *.
    assert (Tot : map (@total positive) (rows_at width (l_columns n)) = totals_of width nodes v) by (unfold totals_of, node_rows; now rewrite E).
    rewrite Tot in Ck. destruct (all_kept width nodes (totals_of width nodes v) es) as [p |] eqn:K; [| easy].
    destruct (all_kept_ok X K) as (Re & P & S).
    apply le_trans with (sum (map (fun e : edge => ofQ (fst (snd e)) * best_of (snd (snd e))) es)).
    + apply sum_le. intros e I. apply le_scale; [now apply ofQ_ge0, X | now apply IH, Re].
    + rewrite S. unfold best_of. rewrite <- best_mul by now apply ofQ_ge0. rewrite map_map.
      rewrite (map_ext_in _ (fun q => ofQ q : F)); [apply le_refl |]. intros q I. rewrite forallb_forall in Ck.
      specialize (Ck q I). apply Qeq_bool_iff in Ck. rewrite <- ofQ_mul. now apply ofQ_eq.
Qed.

Theorem node_bounds_from_above k : forall v u, node_upper nodes v = Some u -> value k (rows v) <= ofQ u.
Proof.
  induction k as [| k IH]; intros v u U; unfold node_upper in U; destruct (PositiveMap.find v nodes) as [n |] eqn:E; try easy;
    pose proof (upper_checked E U) as Ck; unfold check_leak_upper in Ck; rewrite andb_true_iff in Ck; destruct Ck as [Seen Ck];
    apply Qle_bool_iff in Seen;
    assert (Rv : rows v = rows_at width (l_columns n)) by (unfold node_rows; now rewrite E); rewrite <- Rv in Seen.
  - rewrite value_seen. now apply ofQ_le.
  - pose proof (@node_known v) as Kn. pose proof (node_checked E) as Nc. unfold check_leak_node in Nc. rewrite !andb_true_iff in Nc.
    destruct Nc as [[[Cols _] _] _]. destruct (l_bound n) as [| | | line covers] eqn:B.
    + unfold edges_of in Ck. destruct (l_then n) as [t |] eqn:T; [| easy]. destruct (node_follows k E T) as [X V]. rewrite V.
      unfold at_most in Ck. destruct (weighed (node_upper nodes) _) as [y |] eqn:W; [| easy]. apply Qle_bool_iff in Ck.
      apply weighed_ok in W; destruct W as [Al W]. apply le_trans with (ofQ y); [| now apply ofQ_le]. rewrite W.
      apply sum_le. intros e I. apply le_scale; [now apply ofQ_ge0, X |]. destruct (Al e I) as [z Z]. rewrite Z. now apply IH.
    + apply Qle_bool_iff in Ck. rewrite Rv. apply le_trans with (1 := columns_bound (S k) Cols). now apply ofQ_le.
    + apply le_trans with (best_of v); [apply rest_bound; now exists n, u |]. rewrite best_of_seen. now apply ofQ_le.
    + rewrite Rv in *. apply le_trans with (2 := ofQ_le F Seen). eapply ahead_bound; [exact Kn | | exact Ck].
      unfold rows_at. now rewrite map_length, seq_length.
Qed.

(** *** From below *)
Lemma one_depth (bound : positive -> option Q) (es : list edge) :
  (forall e, In e es -> exists k, ofQ (match bound (snd (snd e)) with Some z => z | None => 0%Q end) <= value k (rows (snd (snd e)))) ->
  exists k, forall e, In e es -> ofQ (match bound (snd (snd e)) with Some z => z | None => 0%Q end) <= value k (rows (snd (snd e))).
Proof.
  induction es as [| e es IH]; intro H; [now exists O |].
  destruct (H e (or_introl eq_refl)) as [k K]. destruct IH as [k' K']; [intros d I; apply H; now right |].
  exists (Nat.max k k'). intros d [<- | I].
  - apply le_trans with (1 := K). apply (value_mono F C_ok (@node_known _)). lia.
  - apply le_trans with (1 := K' d I). apply (value_mono F C_ok (@node_known _)). lia.
Qed.

Theorem node_bounds_from_below : forall v z, node_lower nodes v = Some z -> exists k, ofQ z <= value k (rows v).
Proof.
  assert (A : forall m v z, (Pos.to_nat v < m)%nat -> node_lower nodes v = Some z -> exists k, ofQ z <= value k (rows v)).
  2: { intros v z. apply (A (S (Pos.to_nat v))). lia. }
  induction m as [| m IH]; intros v z Hm Z; [lia |].
  unfold node_lower in Z. destruct (PositiveMap.find v nodes) as [n |] eqn:E; [| easy].
  pose proof (node_checked E) as Nc. unfold check_leak_node in Nc. rewrite !andb_true_iff, Z in Nc. destruct Nc as [_ Lo].
  assert (Rv : rows v = rows_at width (l_columns n)) by (unfold node_rows; now rewrite E).
  assert (Stop : (Qleb z (bestQ (map (@total positive) (rows_at width (l_columns n)))) = true) -> exists k, ofQ z <= value k (rows v)).
  { intro H. apply Qle_bool_iff in H. exists O. rewrite value_seen, Rv. now apply ofQ_le. }
  unfold check_leak_lower, edges_of in Lo. destruct (l_stop n); [now apply Stop |]. destruct (l_then n) as [t |] eqn:T; [| now apply Stop].
  rewrite andb_true_iff, forallb_forall in Lo. destruct Lo as [Before Lo].
  destruct (weighed (node_lower nodes) _) as [y |] eqn:W; [| easy]. apply Qle_bool_iff in Lo.
  apply weighed_ok in W; destruct W as [Al W]. set (es := split C width nodes _ t) in *.
  destruct (@one_depth (node_lower nodes) es) as [k K].
  { intros e I. destruct (Al e I) as [x X]. rewrite X. apply (IH (snd (snd e)) x); [| assumption].
    specialize (Before e I). apply Pos.ltb_lt in Before. lia. }
  exists (S k). destruct (node_follows k E T) as [X V]. fold es in X, V. rewrite V. apply le_trans with (ofQ y); [now apply ofQ_le |].
  rewrite W. apply sum_le. intros e I. apply le_scale; [now apply ofQ_ge0, X | now apply K].
Qed.

(** ** Claims *)
Lemma larger_shift (a : F) l : fold_right (@larger F) a l = a + best (map (fun x => x - a) l).
Proof. induction l as [| x l IH]; simpl; [ring |]. rewrite IH. unfold larger.
  destruct (le_dec x (a + best (map (fun x => x - a) l))) as [A | A]; destruct (le_dec (x - a) (best (map (fun x => x - a) l))) as [B | B]; try ring.
  - exfalso; apply B. apply le_by with (a + best (map (fun x => x - a) l) - x); [ring | now apply sub_ge0].
  - exfalso; apply A. apply le_by with (best (map (fun x => x - a) l) - (x - a)); [ring | now apply sub_ge0]. Qed.

Lemma eval_word r l w : inside C r -> eval r (fun s => pr C (S (length w)) s (is_word (l :: w))) = eval (of_label C l r) (after F C w) :> F.
Proof. intro H. rewrite eval_of_label. apply eval_ext. intros s q I. apply pr_word; [reflexivity | now apply (H s q)]. Qed.

Lemma leaked_split a n : inside C (first_of a) -> known C (others_of a) ->
  leaked F C (first_of a) (others_of a) (S n)
  = ofQ (total (first_of a)) + sum (map (fun l => value n (map (of_label C l) (differences a))) L).
Proof.
  intros K1 K2. unfold leaked. cbn [words]. rewrite sum_flat. rewrite <- (sums_to_total n K1).
  transitivity (sum (map (fun l => sum (map (fun w => eval (of_label C l (first_of a)) (after F C w)) (words C n)) + value n (map (of_label C l) (differences a))) L)).
  - apply sum_ext. intros l _. rewrite map_map. unfold value. rewrite <- sum_add. apply sum_ext. intros w I.
    apply words_length in I. subst n. cbv zeta. rewrite larger_shift, (eval_word l w K1). f_equal.
    unfold gained, differences. rewrite !map_map. f_equal. apply map_ext_in. intros r Ir.
    rewrite (eval_word l w (K2 r Ir)), !eval_of_label, eval_app, eval_scale, ofQ_opp, ofQ_1. ring.
  - rewrite sum_add. f_equal. rewrite sum_swap. apply sum_ext. intros w _.
    rewrite (sum_ext (g := fun l => eval (first_of a) (fun t => if Pos.eqb (label C t) l then after F C w t else 0))) by (intros; apply eval_of_label).
    rewrite sum_eval. apply eval_ext. intros s q I. destruct (label_once (K1 s q I)). now apply sum_once.
Qed.

Lemma differences_known a : inside C (first_of a) -> known C (others_of a) -> known C (differences a).
Proof. intros K1 K2 r I. apply in_map_iff in I; destruct I as (r' & <- & I). intros s q Is. apply in_app_iff in Is; destruct Is as [Is | Is].
  - now apply (K2 r' I s q).
  - apply in_map_iff in Is; destruct Is as ([t p] & E & Is). injection E as <- _. now apply (K1 t p). Qed.

Lemma distribution_known prior : is_distribution known_state prior = true -> inside C prior.
Proof. unfold is_distribution. rewrite andb_true_iff, forallb_forall. intros [H _] s q I. specialize (H _ I).
  rewrite andb_true_iff in H. now apply known_ok. Qed.

Lemma worlds_known a : check_worlds known_state width a = true -> inside C (first_of a) /\ known C (others_of a).
Proof.
  destruct a as [s t | prior normed | prior guesses]; simpl; rewrite ?andb_true_iff.
  - intros [Hs Ht]. split; [easy |]. intros r [<- | []] i q [E | [E | []]]; injection E as <- _; now apply known_ok.
  - intros [D _]. apply distribution_known in D. destruct prior as [| e l]; simpl; [split; easy |]. split.
    + intros s q [E | []]. subst e. apply (D s q). now left.
    + intros r I. apply in_map_iff in I; destruct I as (e' & <- & I). intros s q [E | []]. subst e'. apply (D s q). now right.
  - intros [D _]. apply distribution_known in D.
    assert (K : forall g, inside C (guess_row prior g)).
    { intros g s q Is. unfold guess_row in Is. apply in_map_iff in Is; destruct Is as ([t p] & E & Is). injection E as <- _. now apply (D t p). }
    destruct guesses as [| g l]; simpl; [split; easy |]. split; [apply K |].
    intros r I. apply in_map_iff in I; destruct I as (g' & <- & _). apply K.
Qed.

Lemma positive_part_bounds r (g : positive -> F) : (forall s q, In (s, q) r -> 0 <= g s) ->
  eval r g <= eval (positive_part r) g /\ 0 <= eval (positive_part r) g.
Proof.
  induction r as [| [s q] r IH]; simpl; intro H; [split; apply le_refl |]. destruct IH as [I1 I2]; [intros; apply (H s0 q0); now right |].
  pose proof (H s q (or_introl eq_refl)) as G. destruct (Qle_bool 0 q) eqn:E.
  - apply Qle_bool_iff in E. split; [apply le_add2; [apply le_refl | assumption] | apply add_ge0; [apply le_mul; [now apply ofQ_ge0 | assumption] | assumption]].
  - assert (N : (q <= 0)%Q) by (apply Qlt_le_weak, Qnot_le_lt; intro K; apply Qle_bool_iff in K; congruence).
    apply (@ofQ_le F) in N. rewrite ofQ_0 in *. split.
    + apply le_add2; [| assumption]. apply le_by with ((0 - ofQ q) * g s); [ring | apply le_mul; [now apply sub_ge0 | assumption]].
    + apply add_ge0; [| assumption]. apply le_by with (0 : F); [ring | apply le_refl].
Qed.

Lemma positive_parts (M : rows_of) (g : positive -> F) : (forall r s q, In r M -> In (s, q) r -> 0 <= g s) ->
  0 <= eval (flat_map positive_part M) g /\ forall r, In r M -> eval r g <= eval (flat_map positive_part M) g.
Proof.
  induction M as [| r M IH]; simpl; intro H; [split; [apply le_refl | easy] |].
  destruct IH as [I1 I2]; [intros r' s q I; apply (H r' s q); now right |].
  destruct (@positive_part_bounds r g) as [B1 B2]; [intros s q; apply (H r s q); now left |]. rewrite eval_app. split; [now apply add_ge0 |].
  intros r' [<- | I].
  - apply le_trans with (1 := B1). apply le_by with (eval (flat_map positive_part M) g); [ring | assumption].
  - apply le_trans with (1 := I2 r' I). apply le_by with (eval (positive_part r) g); [ring | assumption].
Qed.

Lemma word_sum n s : In s (states C) -> sum (map (fun w => pr C (S n) s (is_word w)) (words C (S n))) = (1 : F).
Proof.
  intro Hs. cbn [words]. rewrite sum_flat. destruct (label_once Hs) as [N I].
  rewrite (sum_ext (g := fun l => if Pos.eqb (label C s) l then 1 else 0)); [now apply sum_once |].
  intros l _. rewrite map_map.
  rewrite (sum_ext (g := fun w => if Pos.eqb (label C s) l then after F C w s else 0)).
  - destruct (Pos.eqb (label C s) l); [now apply after_sum |].
    rewrite (sum_ext (g := fun _ => 0 * 0)); [rewrite sum_mul; ring | intros; ring].
  - intros w Iw. apply words_length in Iw. now apply pr_word.
Qed.

Lemma larger_all (a z : F) l : a <= z -> (forall x, In x l -> x <= z) -> fold_right (@larger F) a l <= z.
Proof. induction l as [| x l IH]; simpl; intros H K; [assumption |]. apply larger_lub; auto. Qed.

Lemma most_leaked a n : inside C (first_of a) -> known C (others_of a) -> leaked F C (first_of a) (others_of a) (S n) <= ofQ (most a).
Proof.
  intros K1 K2. set (P := flat_map positive_part (first_of a :: others_of a)).
  assert (K : forall r s q, In r (first_of a :: others_of a) -> In (s, q) r -> In s (states C)).
  { intros r s q [<- | I] Is; [now apply (K1 s q) | now apply (K2 r I s q)]. }
  assert (KP : inside C P).
  { intros s q I. apply in_flat_map in I; destruct I as (r & Ir & I). apply in_map_iff in I; destruct I as ([t p] & E & I).
    injection E as <- _. now apply (K r t p). }
  apply le_trans with (sum (map (fun w => eval P (fun s => pr C (S n) s (is_word w))) (words C (S n)))).
  - apply sum_le. intros w _. cbv zeta.
    destruct (@positive_parts (first_of a :: others_of a) (fun s => pr C (S n) s (is_word w))) as [_ B].
    { intros r s q Ir Is. apply (pr_bounds F C_ok). now apply (K r s q). }
    apply larger_all; [apply B; now left |]. intros x I. apply in_map_iff in I; destruct I as (r & <- & I). apply B; now right.
  - rewrite sum_eval. rewrite (eval_ext (g := fun _ => 1)); [rewrite eval_const; unfold most; fold P; apply le_by with (0 : F); [ring | apply le_refl] |].
    intros s q I. apply word_sum. now apply (KP s q).
Qed.

Lemma sum_part (l m : list positive) (f : positive -> F) : NoDup l -> NoDup m -> (forall x, In x l -> In x m) -> (forall x, 0 <= f x) ->
  sum (map f l) <= sum (map f m).
Proof.
  intros Nl Nm I P. rewrite (@sum_ext F _ f (fun x => sum (map (fun b => if Pos.eqb x b then f x else 0) m)) l).
  2: { intros x Ix. symmetry. apply sum_once; auto. }
  rewrite sum_swap. apply sum_le. intros b _.
  rewrite (sum_ext (g := fun x => if Pos.eqb b x then f b else 0)).
  2: { intros x _. rewrite Pos.eqb_sym. destruct (Pos.eqb_spec b x) as [-> |]; reflexivity. }
  destruct (in_dec Pos.eq_dec b l) as [Ib | Ib].
  - rewrite sum_once by assumption. apply le_refl.
  - rewrite (sum_ext (g := fun _ => 0 * 0)); [rewrite sum_mul; apply le_by with (f b); [ring | apply P] |].
    intros x Ix. destruct (Pos.eqb_spec b x) as [-> |]; [contradiction | ring].
Qed.

Lemma below_ok D nodes_at l : known C D -> exists k, ofQ (below C width nodes D nodes_at l) <= value k (map (of_label C l) D).
Proof.
  intro K. set (seen := bestQ (map (@total positive) (map (of_label C l) D))).
  assert (Seen : exists k, ofQ seen <= value k (map (of_label C l) D)) by (exists O; rewrite value_seen; apply le_refl).
  unfold below. fold seen. destruct (find _ nodes_at) as [e |]; [| assumption].
  destruct (check_edge C width nodes D _) eqn:Ck; [| assumption].
  destruct (node_lower nodes (snd e)) as [z |] eqn:Z; [| assumption].
  destruct (Qle_bool seen _); [| assumption]. destruct (node_bounds_from_below Z) as [k B]. exists k.
  destruct (check_edge_ok k Ck) as [X V]. rewrite V, (ofQ_eq F (Qred_correct _)), ofQ_mul. apply le_scale; [now apply ofQ_ge0 | assumption].
Qed.

Lemma below_sum D nodes_at offset ls : known C D -> exists k,
  ofQ (fold_right (fun l x => Qred (below C width nodes D nodes_at l + x)) offset ls)
  <= ofQ offset + sum (map (fun l => value k (map (of_label C l) D)) ls).
Proof.
  intro K.
  assert (Kl : forall l, known C (map (of_label C l) D)).
  { intros l r I. apply in_map_iff in I; destruct I as (r' & <- & I). intros s q Is. apply filter_In in Is; destruct Is as [Is _]. now apply (K r' I s q). }
  induction ls as [| l ls [k IH]]; simpl; [exists O; apply le_by with (0 : F); [ring | apply le_refl] |].
  destruct (below_ok nodes_at l K) as [k' B]. exists (Nat.max k k'). rewrite (ofQ_eq F (Qred_correct _)), ofQ_add.
  apply le_trans with (value k' (map (of_label C l) D) + (ofQ offset + sum (map (fun l => value k (map (of_label C l) D)) ls))); [now apply le_add2 |].
  apply le_trans with (value (Nat.max k k') (map (of_label C l) D) + (ofQ offset + sum (map (fun l => value (Nat.max k k') (map (of_label C l) D)) ls))).
  2: { apply le_by with (0 : F); [ring | apply le_refl]. }
  apply le_add2; [apply (value_mono F C_ok (@Kl l)); lia |]. apply le_add2; [apply le_refl |]. apply sum_le. intros l' _.
  apply (value_mono F C_ok (@Kl l')). lia.
Qed.

Theorem claim_ok c : check_leak_claim C known_state width nodes c = true ->
  let a := lc_about c in
  (forall u, lc_upper c = Some u -> forall n, leaked F C (first_of a) (others_of a) (S n) <= ofQ u * ofQ (divisor a)) /\
  exists n, ofQ (lc_lower c) * ofQ (divisor a) <= leaked F C (first_of a) (others_of a) (S n).
Proof.
  intros H a. unfold check_leak_claim in H. fold a in H. rewrite !andb_true_iff in H. destruct H as [[[W _] Lo] Up].
  destruct (worlds_known W) as [K1 K2]. pose proof (@differences_known a K1 K2) as Kd. split.
  - intros u U n. rewrite U in Up. rewrite <- ofQ_mul. apply orb_true_iff in Up. destruct Up as [Up | Up]; rewrite ?andb_true_iff in Up.
    + destruct Up as [_ Up]. apply Qle_bool_iff in Up. apply le_trans with (1 := most_leaked n K1 K2). now apply ofQ_le.
    + destruct Up as [Sp Up]. destruct (weighed (node_upper nodes) _) as [y |] eqn:Wy; [| easy]. apply Qle_bool_iff in Up.
      apply weighed_ok in Wy; destruct Wy as [Al Wy]. destruct (split_value n Kd Sp) as [X V].
      rewrite leaked_split, V by assumption. apply le_trans with (2 := ofQ_le F Up). rewrite ofQ_add, Wy.
      apply le_add2; [apply le_refl |]. apply sum_le. intros e I. apply le_scale; [now apply ofQ_ge0, X |].
      destruct (Al e I) as [z Z]. rewrite Z. now apply node_bounds_from_above.
  - apply Qle_bool_iff in Lo. destruct (below_sum (lc_nodes c) (total (first_of a)) (labels_in C (differences a)) Kd) as [k B].
    exists k. rewrite leaked_split, <- ofQ_mul by assumption. apply le_trans with (1 := ofQ_le F Lo). apply le_trans with (1 := B).
    apply le_add2; [apply le_refl |]. apply sum_part; [apply NoDup_nodup | apply NoDup_nodup | | intro; apply value_ge0].
    intros l I. apply nodup_In, in_map_iff in I; destruct I as ([s q] & <- & I). apply in_concat in I. destruct I as (r & Ir & I).
    apply (label_once (Kd r Ir s q I)).
Qed.
End Soundness.

Theorem check_leakage_sound x : check_leakage x = true ->
  chain_ok (chain_of (lx_model x)) /\ forall c, In c (lx_claims x) -> leak_claim_holds (chain_of (lx_model x)) c.
Proof.
  unfold check_leakage. rewrite !andb_true_iff. intros [Ok [Ra [No Cl]]]. apply check_chain_ok in Ok. split; [assumption |].
  intros c Ic F. rewrite forallb_forall in Cl. specialize (Cl c Ic).
  apply (check_ratios_ok (knows_ok (C := chain_of (lx_model x)))) in Ra.
  exact (@claim_ok F _ Ok _ (knows_ok (C := chain_of (lx_model x))) _ Ra _ _ No c Cl).
Qed.
