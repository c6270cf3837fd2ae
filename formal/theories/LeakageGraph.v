(** * The graph of a certificate of leakage, proved (rules V2 to V7 of docs/certificates/leakage.md) *)

From Coq Require Import ZArith QArith Qround List Bool FMapPositive Field Lia Lqa.
From Bisimdist Require Import OrderedField Combination Chain Delta Ratios Steps Leakage Measures Tables CheckChain Check CheckDelta.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Inductive leak_bound :=
| Follows
| Columns
| Rest
| Chord (most least : Q)
| Ahead (line : nat) (covers : list (nat * list (positive * positive * Q))).

Inductive from_below := Finite (z : Q) | Infinite.

Record leak_node := {
  l_columns : list (positive * list Q);  (* by state its masses in all rows *)
  l_then : option (list (positive * positive));  (* by label the node that follows *)
  l_upper : option Q;
  l_bound : leak_bound;
  l_lower : option from_below;
  l_stop : bool;
  l_cycle : option positive;  (* the first node of the cycle that it lies on *)
  l_weight : option Q;
  l_grows : option (Q * Q)  (* a bound, and by how much it grows from one round to the next *)
}.

(** What is summed over traces. *)
Inductive quantity := Guess | Chi2 | Renyi (order_less_one : positive) | Kl | Hellinger.

(** Roots and logarithms of a field, where they are needed. *)
Definition tools (F : OrderedField) (k : quantity) : Type := match k with Kl => logarithm F | Hellinger => square_root F | _ => unit end.

Definition measure_of (F : OrderedField) (k : quantity) : tools F k -> measure F :=
  match k with
  | Guess => fun _ => best_measure F
  | Chi2 => fun _ => ratio_measure (power_function F 1)
  | Renyi m => fun _ => ratio_measure (power_function F m)
  | Kl => fun t => ratio_measure (log_function t)
  | Hellinger => fun t => root_measure t
  end.

Definition computed_of (g : guesses) (k : quantity) : computed :=
  match k with
  | Guess => best_computed
  | Chi2 => power_computed 1
  | Renyi m => power_computed m
  | Kl => log_computed g
  | Hellinger => root_computed (near_root g)
  end.

Lemma measure_lawful F k (t : tools F k) : lawful (measure_of t).
Proof. destruct k; [apply best_lawful | | | | apply root_lawful]; apply ratio_lawful; (apply power_convex || apply log_convex). Qed.

Lemma measure_encloses F k (t : tools F k) g : encloses (measure_of t) (computed_of g k).
Proof. destruct k; [apply best_encloses | apply power_encloses | apply power_encloses | apply log_encloses | apply root_encloses]. Qed.

Lemma div_times (x c : Q) : (0 < c)%Q -> (x / c * c == x)%Q.
Proof. intro P. rewrite Qmult_comm. apply Qmult_div_r. intro Z. rewrite Z in P. now apply Qlt_irrefl in P. Qed.

(** A number times one that is enclosed. *)
Definition product (q : Q) (e : enclosure) : enclosure :=
  let a := Qred (q * fst e) in let b := Qred (q * snd e) in if Qle_bool a b then (a, b) else (b, a).

(** ** Rows that are those of a node, each times a factor *)
Fixpoint factor_of (M N : rows_of) : Q :=
  match M, N with
  | m :: M', n :: N' => match nonzero n with
      | (s, q) :: _ => match find (fun e => Pos.eqb (fst e) s) (norm m) with Some e => Qred (snd e / q) | None => 0%Q end
      | [] => factor_of M' N'
      end
  | _, _ => 0%Q
  end.

Fixpoint same_rows (xs : list Q) (M N : rows_of) : bool :=
  match xs, M, N with
  | [], [], [] => true
  | x :: xs', m :: M', n :: N' => all_zero (m ++ scale (- x) n) && same_rows xs' M' N'
  | _, _, _ => false
  end.

Record edge := {
  e_label : positive;
  e_scales : list Q;
  e_factor : enclosure;
  e_shift : enclosure;
  e_child : positive
}.

Section Graph.
Variable C : chain.
Variable known_state : positive -> bool.
Variable R : positive -> positive -> option Q.
Variable K : computed.
Variable width : nat.
Variable nodes : table leak_node.

Definition node_rows (v : positive) : rows_of :=
  match PositiveMap.find v nodes with Some n => rows_at width (l_columns n) | None => [] end.
Definition node_upper (v : positive) : option Q := match PositiveMap.find v nodes with Some n => l_upper n | None => None end.
Definition node_lower (v : positive) : option from_below := match PositiveMap.find v nodes with Some n => l_lower n | None => None end.
Definition finite_lower (v : positive) : option Q := match node_lower v with Some (Finite z) => Some z | _ => None end.

Definition totals (M : rows_of) : list Q := map (@total positive) M.

Definition scales (M N : rows_of) : list Q :=
  if is_together K then repeat (factor_of M N) (length N) else map (fun p => factor_of [fst p] [snd p]) (combine M N).

(** The rows of each label are those of a node, or nothing that counts (rule V3). *)
Definition edge_to (M : rows_of) (then_ : positive * positive) : edge :=
  let image := map (of_label C (fst then_)) M in
  let N := node_rows (snd then_) in
  let xs := if infinite K (totals image) then [1%Q; 1%Q] else scales image N in
  let fs := along K xs in
  {| e_label := fst then_; e_scales := xs; e_factor := fst fs; e_shift := product (total (first_row N)) (snd fs); e_child := snd then_ |}.

Definition all_positive (xs : list Q) : bool := forallb (Qltb 0) xs.

Definition check_edge (M : rows_of) (e : edge) : bool :=
  let image := map (of_label C (e_label e)) M in
  match PositiveMap.find (e_child e) nodes with
  | None => false
  | Some n =>
      let N := rows_at width (l_columns n) in
      if infinite K (totals image) then infinite K (totals N)
      else forallb (fun c => existsb (fun q => negb (Qeq_bool q 0)) (snd c)) (l_columns n) &&
        forallb (fun k => negb (Qeq_bool (nth k (totals N) 0%Q) 0)) (rows_needed K) &&
        all_positive (e_scales e) && same_rows (e_scales e) image N
  end.

Definition other_labels (then_ : list (positive * positive)) (r : list (positive * Q)) : list (positive * Q) :=
  let named := build then_ in
  filter (fun e => match PositiveMap.find (label C (fst e)) named with Some _ => false | None => true end) r.

Definition labels_in (M : rows_of) : list positive := nodup Pos.eq_dec (map (fun e => label C (fst e)) (concat M)).

Definition counts_nothing (M : rows_of) : bool := existsb (fun k => all_zero (nth k M [])) (rows_needed K) || forallb all_zero M.

Definition check_split (M : rows_of) (then_ : list (positive * positive)) (edges : list edge) : bool :=
  none_twice (PositiveMap.empty unit) (map fst then_) && forallb (check_edge M) edges &&
  forallb (fun l => counts_nothing (map (of_label C l) M)) (labels_in (map (other_labels then_) M)).

Definition images (M : rows_of) : rows_of := map (fun r => norm (image C r)) M.

Definition edges_of (n : leak_node) : option (list edge) :=
  match l_then n with Some t => Some (map (edge_to (images (rows_at width (l_columns n)))) t) | None => None end.

(** The sum of factors times bounds, on one side; None where a node has none. *)
Fixpoint weighed (side : enclosure -> Q) (bound : positive -> option Q) (edges : list edge) : option Q :=
  match edges with
  | [] => Some 0%Q
  | e :: l => match bound (e_child e), weighed side bound l with
      | Some y, Some z => Some (Qred (side (product y (e_factor e)) + side (e_shift e) + z))
      | _, _ => None
      end
  end.

Definition at_most (x : option Q) (y : Q) : bool := match x with Some z => Qleb z y | None => false end.

(** ** Bounds from above (rules V4 and V5) *)
Fixpoint sum_columns (columns : list (positive * list Q)) : option Q :=
  match columns with
  | [] => Some 0%Q
  | c :: l => match bounds K (snd c), sum_columns l with Some e, Some x => Some (Qred (snd e + x)) | _, _ => None end
  end.

Definition part_of (ts image : list Q) : Q :=
  match find (fun e => negb (Qeq_bool (fst e) 0)) (combine ts image) with Some e => Qred (snd e / fst e) | None => 0%Q end.

Definition image_of (e : edge) : list Q := map (fun p => Qred (fst p * total (snd p))) (combine (e_scales e) (node_rows (e_child e))).

Definition kept (ts : list Q) (e : edge) : option Q :=
  let image := image_of e in
  let p := part_of ts image in
  if match PositiveMap.find (e_child e) nodes with Some n => match l_bound n, l_upper n with Rest, Some _ => true | _, _ => false end | None => false end
     && Qleb 0 p && Nat.eqb (length image) (length ts)
     && forallb (fun y => Qeqb (fst y) (p * snd y)) (combine image ts)
  then Some p else None.

Fixpoint all_kept (ts : list Q) (edges : list edge) : option Q :=
  match edges with
  | [] => Some 0%Q
  | e :: l => match kept ts e, all_kept ts l with Some p, Some q => Some (Qred (p + q)) | _, _ => None end
  end.

Definition chord (M : rows_of) (most least u : Q) : bool :=
  let left := nth 0 M [] in
  let right := nth 1 M [] in
  let x := total left in
  let y := total right in
  Qltb 0 most && Qleb 0 least && stays_below R most left right && (Qeqb least 0 || stays_below R (/ least) right left) &&
  match bounds K [most; 1%Q], bounds K [least; 1%Q] with
  | Some e, Some e' =>
      if Qeqb most least then negb (Qeqb least 0) && Qleb (y * snd e) u
      else let high := Qred ((x - least * y) / (most - least)) in
        Qltb least most && Qleb (high * snd e + ((most * y - x) / (most - least)) * snd e') u
  | _, _ => false
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

Definition check_leak_upper (n : leak_node) (seen : option enclosure) (edges : option (list edge)) (u : Q) : bool :=
  match seen with
  | None => false
  | Some e => Qleb (snd e) u &&
      let M := rows_at width (l_columns n) in
      match l_bound n with
      | Follows => match edges with Some es => at_most (weighed snd node_upper es) u | None => false end
      | Columns => at_most (sum_columns (l_columns n)) u
      | Rest => match edges with
          | Some es => match all_kept (totals M) es with Some p => Qleb 0 p && forallb (fun t => Qeqb (p * t) t) (totals M) | None => false end
          | None => false
          end
      | Chord most least => negb (is_signed K) && Nat.eqb width 2 && chord M most least u
      | Ahead line covers =>
          let named := build (l_columns n) in
          is_signed K && check_ahead M (fun s => match PositiveMap.find s named with Some _ => true | None => false end) line covers
      end
  end.

(** ** Bounds from below (rules V6 and V7) *)
Definition start (v : positive) (n : leak_node) : positive := match l_cycle n with Some a => a | None => v end.

Definition inside_cycle (n : leak_node) (v : positive) : bool :=
  match l_cycle n, PositiveMap.find v nodes with
  | Some a, Some m => match l_cycle m with Some b => Pos.eqb a b | None => false end
  | _, _ => false
  end.

Definition weight_of (v : positive) : option Q := match PositiveMap.find v nodes with Some n => l_weight n | None => None end.

(** The weights of what follows on the cycle. *)
Fixpoint inner (edges : list edge) : option Q :=
  match edges with
  | [] => Some 0%Q
  | e :: l => match weight_of (e_child e), inner l with Some h, Some x => Some (Qred (h * snd (e_factor e) + x)) | _, _ => None end
  end.

Definition check_finite (v : positive) (n : leak_node) (seen : option enclosure) (edges : option (list edge)) (z : Q) : bool :=
  match l_stop n, edges with
  | false, Some es =>
      forallb (fun e => Pos.ltb (e_child e) (start v n) || inside_cycle n (e_child e)) es &&
      match weighed fst finite_lower es with Some y => Qleb z y | None => false end &&
      match filter (fun e => inside_cycle n (e_child e)) es with
      | [] => true
      | es' => match l_weight n, inner es' with Some h, Some x => Qltb x h | _, _ => false end
      end
  | _, _ => match seen with Some e => Qleb z (fst e) | None => true end
  end.

Definition at_first (seen : option enclosure) : Q := match seen with Some e => fst e | None => 0%Q end.

Definition grows_by (v : positive) : Q :=
  match PositiveMap.find v nodes with Some n => match l_grows n with Some (_, h) => h | None => 0%Q end | None => 0%Q end.
Definition starts_at (v : positive) : option Q :=
  Some (match PositiveMap.find v nodes with
    | Some n => match l_grows n with Some (z, _) => z | None => at_first (bounds K (totals (rows_at width (l_columns n)))) end
    | None => 0%Q
    end).

Definition growth (edges : list edge) : Q := fold_right (fun e x => Qred (fst (product (grows_by (e_child e)) (e_factor e)) + x)) 0%Q edges.

Definition check_growth (seen : option enclosure) (edges : option (list edge)) (z h : Q) : bool :=
  Qltb 0 h && Qleb z (at_first seen) &&
  match edges with
  | Some es => Qleb h (growth es) && match weighed fst starts_at es with Some y => Qleb (z + h) y | None => false end
  | None => false
  end.

Definition check_infinite (v : positive) (n : leak_node) (seen : option enclosure) (edges : option (list edge)) : bool :=
  match l_grows n, seen with
  | None, Some _ => match edges with
      | Some es => existsb (fun e => Pos.ltb (e_child e) v && Qltb 0 (fst (e_factor e)) && match node_lower (e_child e) with Some Infinite => true | _ => false end) es
      | None => false
      end
  | _, _ => true
  end.

Definition check_leak_node (e : positive * leak_node) : bool :=
  let '(v, n) := e in
  let M := rows_at width (l_columns n) in
  forallb (fun c => known_state (fst c) && Nat.eqb (length (snd c)) width && (is_signed K || forallb (Qle_bool 0) (snd c))) (l_columns n) &&
  let edges := edges_of n in
  let seen := bounds K (totals M) in
  match l_then n, edges with Some t, Some es => check_split (images M) t es | _, _ => true end &&
  match l_cycle n with Some a => Pos.leb a v | None => true end &&
  match l_weight n with Some h => Qltb 0 h | None => true end &&
  match l_upper n with Some u => check_leak_upper n seen edges u | None => true end &&
  match l_grows n with Some (z, h) => check_growth seen edges z h | None => true end &&
  match l_lower n with Some (Finite z) => check_finite v n seen edges z | Some Infinite => check_infinite v n seen edges | None => true end.

(** ** Rows that a claim starts from *)
(** What is known from below of the rows of one label. *)
Definition below (D : rows_of) (nodes_at : list (positive * positive)) (l : positive) : from_below :=
  match bounds K (totals (map (of_label C l) D)) with
  | None => Infinite
  | Some seen =>
      match find (fun t => Pos.eqb (fst t) l) nodes_at with
      | None => Finite (fst seen)
      | Some t =>
          let e := edge_to D t in
          if check_edge D e then match node_lower (snd t) with
            | Some (Finite z) => Finite (larger_of (fst seen) (Qred (fst (product z (e_factor e)) + fst (e_shift e))))
            | Some Infinite => if Qltb 0 (fst (e_factor e)) then Infinite else Finite (fst seen)
            | None => Finite (fst seen)
            end
          else Finite (fst seen)
      end
  end.

Fixpoint all_below (l : list from_below) : from_below :=
  match l with
  | [] => Finite 0
  | x :: l' => match x, all_below l' with Finite a, Finite b => Finite (Qred (a + b)) | _, _ => Infinite end
  end.
End Graph.

(** ** Bounds from below are reached, or come as close to as one likes *)
Section Reached.
Variable F : OrderedField.

Definition unbounded (f : nat -> option F) : Prop := forall b, exists k, leq (Some (ofQ b)) (f k).

Definition reaches (b : from_below) (f : nat -> option F) : Prop :=
  match b with Finite z => forall r, (0 < r)%Q -> exists k, leq (Some (ofQ (z - r))) (f k) | Infinite => unbounded f end.
End Reached.

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
Variable mu : measure F.
Hypothesis mu_ok : lawful mu.
Variable K : computed.
Hypothesis K_ok : encloses mu K.
Hypothesis signed_best : is_signed K = true -> mu = best_measure F.
Variable width : nat.
Variable listed : list (positive * leak_node).
Let nodes := build listed.
Hypothesis nodes_ok : forallb (check_leak_node C known_state R K width nodes) listed = true.

Notation value := (value C mu).
Notation rows := (node_rows width nodes).
Let L := all_labels C.

Lemma product_ok q e (x : F) : between e x -> between (product q e) (ofQ q * x).
Proof.
  intros [A B]. assert (H : (ofQ (Qred (q * fst e)) <= ofQ q * x /\ ofQ q * x <= ofQ (Qred (q * snd e)))
    \/ (ofQ (Qred (q * snd e)) <= ofQ q * x /\ ofQ q * x <= ofQ (Qred (q * fst e)))).
  { rewrite !(ofQ_eq F (Qred_correct _)), !ofQ_mul. destruct (Qlt_le_dec q 0) as [N | P].
    - right. assert (N' : 0 <= (- ofQ q : F)) by (rewrite <- ofQ_opp; apply ofQ_ge0; lra).
      split; [apply le_by with (- ofQ q * (ofQ (snd e) - x)) | apply le_by with (- ofQ q * (x - ofQ (fst e)))];
        try ring; (apply le_mul; [assumption | now apply sub_ge0]).
    - left. apply (@ofQ_ge0 F) in P. split; now apply le_scale. }
  unfold product. cbv zeta. destruct (Qle_bool _ _) eqn:E.
  - apply Qle_bool_iff, (@ofQ_le F) in E. split; cbn [fst snd]; destruct H as [[H1 H2] | [H1 H2]]; try assumption.
    + apply le_trans with (1 := E), H1.
    + apply le_trans with (1 := H2), E.
  - assert (E' : (Qred (q * snd e) <= Qred (q * fst e))%Q) by (apply Qlt_le_weak, Qnot_le_lt; intro N; apply Qle_bool_iff in N; congruence).
    apply (@ofQ_le F) in E'. split; cbn [fst snd]; destruct H as [[H1 H2] | [H1 H2]]; try assumption.
    + apply le_trans with (1 := E'), H1.
    + apply le_trans with (1 := H2), E'.
Qed.

(** ** Nodes *)
Lemma node_checked v n : PositiveMap.find v nodes = Some n -> check_leak_node C known_state R K width nodes (v, n) = true.
Proof. intro H. apply build_found in H. rewrite forallb_forall in nodes_ok. now apply nodes_ok. Qed.

Lemma columns_checked v n : PositiveMap.find v nodes = Some n -> forall c, In c (l_columns n) ->
  In (fst c) (states C) /\ length (snd c) = width /\ (signed mu = true \/ forall q, In q (snd c) -> (0 <= q)%Q).
Proof.
  intros H c Ic. apply node_checked in H. unfold check_leak_node in H. rewrite !andb_true_iff, forallb_forall in H.
  destruct H as (H & _). specialize (H c Ic). rewrite !andb_true_iff in H. destruct H as [[H1 H2] H3].
  split; [now apply known_ok | split; [now apply Nat.eqb_eq |]]. apply orb_true_iff in H3. destruct H3 as [H3 | H3].
  - left. now rewrite (same_signed K_ok).
  - right. rewrite forallb_forall in H3. intros q I. now apply Qle_bool_iff, H3.
Qed.

Lemma node_fine v : fine C mu (rows v).
Proof.
  unfold node_rows. destruct (PositiveMap.find v nodes) as [n |] eqn:E; [| split; [easy | right; easy]].
  pose proof (columns_checked E) as H. split.
  - intros r I. unfold rows_at in I. apply in_map_iff in I; destruct I as (k & <- & _).
    intros s q I. apply in_map_iff in I; destruct I as (c & Ec & I). injection Ec as <- _. now apply H.
  - destruct (signed mu) eqn:S; [now left | right]. intros r s q I Is. unfold rows_at in I. apply in_map_iff in I; destruct I as (k & <- & _).
    apply in_map_iff in Is; destruct Is as (c & Ec & I). injection Ec as _ <-. destruct (H c I) as (_ & _ & [P | P]); [congruence |].
    destruct (Nat.lt_ge_cases k (length (snd c))) as [B | B]; [now apply P, nth_In | rewrite nth_overflow by assumption; apply Qle_refl].
Qed.

Lemma ones M : masses M (fun _ => 1) = map (fun q => ofQ q : F) (totals M).
Proof. unfold masses, totals. rewrite map_map. apply map_ext. intro r. rewrite eval_const. ring. Qed.

Lemma domain_totals M : fine C mu M -> in_domain mu (map (fun q => ofQ q : F) (totals M)).
Proof. intro H. rewrite <- ones. apply (in_domain_of H). intros; apply one_ge0. Qed.

(** What is seen by then. *)
Lemma seen_ok M : fine C mu M -> match bounds K (totals M) with
  | Some e => exists v, value 0 M = Some v /\ between e v
  | None => value 0 M = None
  end.
Proof. intro H. rewrite value_0, ones. apply (bounds_ok K_ok). now apply domain_totals. Qed.

(** Rows that are worth the same as fine ones. *)
Definition as_fine (M : rows_of) : Prop := exists M', fine C mu M' /\ forall g : positive -> F, masses M g = masses M' g.

Lemma fine_as_fine M : fine C mu M -> as_fine M.
Proof. intro H. exists M. now split. Qed.

Lemma infinite_value M n : as_fine M -> infinite K (totals M) = true -> value n M = None.
Proof. intros (M' & H & E) I. rewrite (value_same C mu n E).
  assert (S : value 0 M' = None).
  { rewrite value_0, <- E, ones. pose proof (bounds_ok K_ok (l := totals M)) as B. rewrite (proj1 (infinite_ok K_ok I)) in B. apply B.
    rewrite <- ones, E. apply (in_domain_of H). intros; apply one_ge0. }
  pose proof (value_mono C_ok mu_ok H (Nat.le_0_l n)) as Mo. rewrite S in Mo. destruct (value n M'); [easy | reflexivity]. Qed.

(** ** What follows *)
Lemma same_rows_ok xs M : forall N, same_rows xs M N = true -> scaled F xs M N.
Proof.
  revert M; induction xs as [| x xs IH]; intros [| m M] [| n N] H; simpl in *; try easy.
  rewrite andb_true_iff in H; destruct H as [Z H]. destruct (IH M N H) as [Len S]. split; [simpl; congruence |].
  intro g. simpl. f_equal; [| apply S].
  apply all_zero_ok with (f := g) in Z. rewrite eval_app, eval_scale, ofQ_opp in Z.
  replace (eval m g) with (eval m g + - ofQ x * eval n g + ofQ x * eval n g) by ring. rewrite Z; ring.
Qed.

Definition edge_known (M : rows_of) (e : edge) : Prop :=
  PositiveMap.find (e_child e) nodes <> None /\ as_fine (map (of_label C (e_label e)) M).

Definition edge_ok (M : rows_of) (e : edge) : Prop :=
  scales_ok mu (e_scales e) /\ length (e_scales e) = length (rows (e_child e)) /\
  between (e_factor e) (scale_factor mu (e_scales e)) /\
  between (e_shift e) (scale_shift mu (e_scales e) * ofQ (total (first_row (rows (e_child e))))) /\
  forall n, value n (map (of_label C (e_label e)) M)
    = plus (times (scale_factor mu (e_scales e)) (value n (rows (e_child e)))) (Some (scale_shift mu (e_scales e) * ofQ (total (first_row (rows (e_child e)))))).

Lemma of_nothing M l n : known C M -> ~ In l (map (fun e : positive * Q => label C (fst e)) (concat M)) -> value n (map (of_label C l) M) = Some 0.
Proof.
  intros Kn N. apply nothing_value. intros w _. apply (phi_zero mu_ok). intros x I. apply in_map_iff in I; destruct I as (r & <- & I).
  apply in_map_iff in I; destruct I as (r' & <- & I). rewrite eval_of_label.
  rewrite (eval_ext (g := fun _ => 0)); [rewrite eval_const; ring |].
  intros s q Is. destruct (Pos.eqb_spec (label C s) l) as [E |]; [| reflexivity]. exfalso; apply N. rewrite <- E.
  apply in_map_iff. exists (s, q). split; [reflexivity |]. apply in_concat. now exists r'.
Qed.

Lemma counts_nothing_ok M n : counts_nothing K M = true -> value n M = Some 0.
Proof.
  intro H. apply nothing_value. intros w _. apply orb_true_iff in H. destruct H as [H | H].
  - apply existsb_exists in H. destruct H as (k & I & Z). apply (phi_needed mu_ok (k := k)); [now rewrite (same_needed K_ok) |].
    transitivity (eval (nth k M []) (after F C w)); [exact (map_nth (fun r => eval r (after F C w)) M [] k) | now apply all_zero_ok].
  - apply (phi_zero mu_ok). intros x I. apply in_map_iff in I; destruct I as (r & <- & I). rewrite forallb_forall in H.
    apply all_zero_ok. now apply H.
Qed.

Lemma all_equal (x y z : Q) n : In y (repeat x n) -> In z (repeat x n) -> y = z.
Proof. intros H1 H2. apply repeat_spec in H1, H2. congruence. Qed.

Lemma edge_to_ok M t : as_fine (map (of_label C (fst t)) M) -> check_edge C K width nodes M (edge_to C K width nodes M t) = true ->
  edge_ok M (edge_to C K width nodes M t).
Proof.
  intros Fi H. set (e := edge_to C K width nodes M t) in *. set (image := map (of_label C (fst t)) M) in *.
  unfold check_edge in H. change (e_label e) with (fst t) in H. change (e_child e) with (snd t) in H. fold image in H.
  destruct (PositiveMap.find (snd t) nodes) as [n |] eqn:Fd; [| easy].
  assert (Rw : rows (snd t) = rows_at width (l_columns n)) by (unfold node_rows; now rewrite Fd).
  rewrite <- Rw in H.
  assert (Xs : scales_ok mu (e_scales e) /\ length (e_scales e) = length (rows (snd t)) /\
    forall k, value k image = plus (times (scale_factor mu (e_scales e)) (value k (rows (snd t)))) (Some (scale_shift mu (e_scales e) * ofQ (total (first_row (rows (snd t))))))).
  { destruct (infinite K (totals image)) eqn:I.
    - assert (Ex : e_scales e = [1%Q; 1%Q]) by (unfold e, edge_to; cbn [e_scales]; fold image; now rewrite I).
      rewrite Ex. destruct (infinite_ok K_ok H) as (_ & Len & To). split; [| split].
      + split; [intros x [<- | [<- | []]]; reflexivity | congruence].
      + unfold totals in Len. now rewrite map_length in Len.
      + intro k. rewrite (infinite_value k Fi I), (infinite_value k (fine_as_fine (node_fine (snd t))) H). reflexivity.
    - rewrite !andb_true_iff in H. destruct H as [[[_ _] P] S]. apply same_rows_ok in S.
      assert (Ok : scales_ok mu (e_scales e)).
      { split; [intros x Ix; unfold all_positive in P; rewrite forallb_forall in P; now apply Qltb_lt, P |].
        intros To. rewrite (same_together K_ok) in To. unfold e, edge_to; cbn [e_scales]. fold image. rewrite I. unfold scales. rewrite To.
        intros x y. apply all_equal. }
      split; [assumption | split; [apply S |]]. intro k. apply (scaled_value C_ok mu_ok); auto. apply node_fine. }
  destruct Xs as (X & Len & V). destruct (along_ok K_ok X) as [B1 B2].
  assert (Al : e_factor e = fst (along K (e_scales e)) /\ e_shift e = product (total (first_row (rows (snd t)))) (snd (along K (e_scales e)))) by (split; reflexivity).
  destruct Al as [A1 A2]. split; [assumption | split; [assumption |]]. change (e_child e) with (snd t). rewrite A1, A2. split; [assumption | split; [| exact V]].
  replace (scale_shift mu (e_scales e) * ofQ (total (first_row (rows (snd t))))) with (ofQ (total (first_row (rows (snd t)))) * scale_shift mu (e_scales e)) by ring.
  now apply product_ok.
Qed.

Lemma images_same l M (g : positive -> F) : masses (step C l M) g = masses (map (of_label C l) (images C M)) g.
Proof. unfold masses, step, images. rewrite !map_map. apply map_ext. intro r. now rewrite !eval_of_label, eval_norm. Qed.

Lemma images_known M : known C M -> known C (images C M).
Proof. intros H r I. apply in_map_iff in I; destruct I as (r' & <- & I). intros s q Is. destruct (norm_keys Is) as [p J].
  now apply (image_inside C_ok (H r' I) J). Qed.

Lemma esum_picked (es : list edge) (f : positive -> option F) l : NoDup (map e_label es) -> In l (map e_label es) ->
  esum (map (fun e => if Pos.eqb (e_label e) l then f (e_label e) else Some 0) es) = f l.
Proof.
  induction es as [| d es IH]; simpl; intros N I; [easy |]. inversion N as [| ? ? N1 N2]; subst. destruct (Pos.eqb_spec (e_label d) l) as [<- | D].
  - rewrite esum_zero; [apply plus_0r |]. intros e Ie. destruct (Pos.eqb_spec (e_label e) (e_label d)) as [E |]; [| reflexivity].
    exfalso; apply N1. rewrite <- E. now apply in_map.
  - destruct I as [E | I]; [congruence |]. rewrite IH by assumption. apply plus_0l.
Qed.

(** The rows of all labels together are worth what the edges lead to. *)
Lemma split_value M then_ : known C M -> (forall l, as_fine (map (of_label C l) M)) ->
  let es := map (edge_to C K width nodes M) then_ in check_split C K width nodes M then_ es = true ->
  (forall e, In e es -> edge_ok M e /\ edge_known M e) /\
  forall n, esum (map (fun l => value n (map (of_label C l) M)) L) = esum (map (fun e => value n (map (of_label C (e_label e)) M)) es).
Proof.
  intros Kn Fi es H. unfold check_split in H. rewrite !andb_true_iff, !forallb_forall in H. destruct H as [[N E] Z].
  apply none_twice_ok in N; destruct N as [N _].
  assert (Fst : map e_label es = map fst then_) by (unfold es; rewrite map_map; reflexivity). rewrite <- Fst in N. split.
  - intros e I. pose proof (E e I) as Ee. unfold es in I. apply in_map_iff in I; destruct I as (t & <- & I).
    split; [now apply edge_to_ok | split; [| apply Fi]]. unfold check_edge in Ee. simpl in Ee |- *. intro No. now rewrite No in Ee.
  - intro n. transitivity (esum (map (fun l => esum (map (fun e => if Pos.eqb (e_label e) l then value n (map (of_label C (e_label e)) M) else Some 0) es)) L)).
    + apply esum_ext. intros l Il. destruct (in_dec Pos.eq_dec l (map e_label es)) as [I | I].
      * symmetry. now apply (esum_picked (fun l => value n (map (of_label C l) M))).
      * rewrite (esum_zero (l := es)).
        2: { intros e Ie. destruct (Pos.eqb_spec (e_label e) l) as [<- |]; [exfalso; now apply I, in_map | reflexivity]. }
        destruct (in_dec Pos.eq_dec l (labels_in C (map (other_labels C then_) M))) as [J | J]; [now apply counts_nothing_ok, Z |].
        apply of_nothing; [assumption |]. intro J'. apply J. apply nodup_In. apply in_map_iff in J'. destruct J' as ([s q] & El & J').
        simpl in El. apply in_concat in J'. destruct J' as (r & Ir & Is). apply in_map_iff. exists (s, q). split; [assumption |].
        apply in_concat. exists (other_labels C then_ r). split; [now apply in_map |]. apply filter_In. split; [assumption |]. simpl.
        destruct (PositiveMap.find (label C s) (build then_)) eqn:B; [| reflexivity]. exfalso. apply I. rewrite Fst, <- El.
        apply build_found in B. now apply in_map with (f := fst) in B.
    + rewrite esum_swap. apply esum_ext. intros e Ie. destruct (in_dec Pos.eq_dec (e_label e) L) as [I | I].
      * apply (esum_once (l := L) (a := e_label e)); [apply NoDup_nodup | assumption].
      * rewrite esum_zero; [| intros l Il; destruct (Pos.eqb_spec (e_label e) l) as [<- |]; [contradiction | reflexivity]].
        symmetry. apply of_nothing; [assumption |]. intro J. apply I. apply in_map_iff in J. destruct J as ([s q] & El & J).
        apply in_concat in J. destruct J as (r & Ir & Is). simpl in El. rewrite <- El. apply (label_once (Kn r Ir s q Is)).
Qed.

(** What follows a node. *)
Lemma node_follows v n es : PositiveMap.find v nodes = Some n -> edges_of C K width nodes n = Some es ->
  let M := images C (rows_at width (l_columns n)) in
  (forall e, In e es -> edge_ok M e /\ edge_known M e) /\
  forall k, value (S k) (rows v) = esum (map (fun e => value k (map (of_label C (e_label e)) M)) es).
Proof.
  intros E T M. pose proof (node_checked E) as Ck. unfold edges_of in T. destruct (l_then n) as [t |] eqn:Th; [| easy]. injection T as <-.
  assert (Rv : rows v = rows_at width (l_columns n)) by (unfold node_rows; now rewrite E).
  pose proof (node_fine v) as Fi. rewrite Rv in Fi.
  assert (Sp : check_split C K width nodes M t (map (edge_to C K width nodes M) t) = true).
  { unfold check_leak_node in Ck. rewrite Th in Ck. unfold edges_of in Ck. rewrite Th, !andb_true_iff in Ck. apply Ck. }
  destruct (@split_value M t) as [P V]; [apply images_known, Fi | | exact Sp |].
  - intro l. exists (step C l (rows_at width (l_columns n))). split; [now apply (step_fine C_ok) |]. intro g. symmetry. apply images_same.
  - split; [exact P |]. intro k. rewrite <- V, value_step, Rv. apply esum_ext. intros l _. apply value_same. intro g. apply images_same.
Qed.

(** *** From above *)
Lemma edge_above M e k u : edge_ok M e -> leq (value k (rows (e_child e))) (Some (ofQ u)) ->
  leq (value k (map (of_label C (e_label e)) M)) (Some (ofQ (snd (product u (e_factor e)) + snd (e_shift e)))).
Proof.
  intros (X & _ & B1 & B2 & V) H. rewrite V. pose proof (factor_gt0 mu_ok X) as P.
  destruct (value k (rows (e_child e))) as [x |]; [| easy]. simpl in *. rewrite ofQ_add. apply le_add2; [| apply B2].
  apply le_trans with (scale_factor mu (e_scales e) * ofQ u); [apply le_scale; [now apply lt_le | assumption] |].
  apply le_by with (ofQ (snd (product u (e_factor e))) - ofQ u * scale_factor mu (e_scales e)); [ring | apply sub_ge0]. now apply product_ok.
Qed.

Lemma weighed_above M bound es y k : (forall e, In e es -> edge_ok M e) -> weighed snd bound es = Some y ->
  (forall e u, In e es -> bound (e_child e) = Some u -> leq (value k (rows (e_child e))) (Some (ofQ u))) ->
  leq (esum (map (fun e => value k (map (of_label C (e_label e)) M)) es)) (Some (ofQ y)).
Proof.
  revert y; induction es as [| e es IH]; cbn [weighed map esum]; intros y Ok W H; [injection W as <-; rewrite ofQ_0; apply leq_refl |].
  destruct (bound (e_child e)) as [u |] eqn:B; [| easy]. destruct (weighed snd bound es) as [z |]; [| easy]. injection W as <-.
  rewrite (ofQ_eq F (Qred_correct _)), ofQ_add. change (Some (ofQ (snd (product u (e_factor e)) + snd (e_shift e)) + ofQ z))
    with (plus (Some (ofQ (snd (product u (e_factor e)) + snd (e_shift e)))) (Some (ofQ z : F))).
  apply plus_leq; [apply edge_above; [apply Ok; now left | apply H; [now left | assumption]] |].
  apply IH; [intros; apply Ok; now right | reflexivity | intros e' u' I; apply H; now right].
Qed.

Lemma upper_checked v n u : PositiveMap.find v nodes = Some n -> l_upper n = Some u ->
  check_leak_upper known_state R K width nodes n (bounds K (totals (rows_at width (l_columns n)))) (edges_of C K width nodes n) u = true.
Proof. intros E U. apply node_checked in E. unfold check_leak_node in E. rewrite !andb_true_iff, U in E. tauto. Qed.

Lemma sum_columns_ok columns y : sum_columns K columns = Some y ->
  (forall c, In c columns -> exists e, bounds K (snd c) = Some e) /\
  ofQ y = ofQ (total (map (fun c => (fst c, match bounds K (snd c) with Some e => snd e | None => 0%Q end)) columns)) :> F.
Proof.
  revert y; induction columns as [| c l IH]; simpl; intros y H; [injection H as <-; now split |].
  destruct (bounds K (snd c)) as [e |] eqn:B; [| easy]. destruct (sum_columns K l) as [x |]; [| easy]. injection H as <-.
  destruct (IH x eq_refl) as [I1 I2]. split; [intros c' [<- | I]; [now exists e | now apply I1] |].
  now rewrite !(ofQ_eq F (Qred_correct _)), !ofQ_add, I2.
Qed.

Lemma columns_value v n y k : PositiveMap.find v nodes = Some n -> sum_columns K (l_columns n) = Some y -> leq (value k (rows v)) (Some (ofQ y)).
Proof.
  intros E H. destruct (sum_columns_ok H) as [Al Sm]. pose proof (columns_checked E) as Co.
  assert (Rv : rows v = rows_at width (l_columns n)) by (unfold node_rows; now rewrite E). rewrite Rv.
  set (u := fun c : positive * list Q => match bounds K (snd c) with Some e => snd e | None => 0%Q end).
  set (r := map (fun c => (fst c, u c)) (l_columns n)).
  assert (In_r : inside C r). { intros s q I. apply in_map_iff in I; destruct I as (c & Ec & I). injection Ec as <- _. now apply Co. }
  replace (ofQ y : F) with (ofQ (total r) : F) by (symmetry; exact Sm). rewrite <- (sums_to_total F C_ok k In_r), <- esum_some. apply esum_le. intros w _.
  apply (columns_bound (C := C) mu_ok (u := u)); [intros; now apply (after_ge0 F C_ok) |].
  intros c Ic. destruct (Co c Ic) as (A1 & A2 & A3). split; [assumption | split; [assumption | split; [assumption |]]].
  destruct (Al c Ic) as [e Be]. pose proof (bounds_ok K_ok (l := snd c)) as B. unfold u. rewrite Be in B |- *. destruct B as (x & X & [_ B]).
  - destruct A3 as [A3 | A3]; [now left | right]. intros z I. apply in_map_iff in I; destruct I as (q & <- & I). now apply ofQ_ge0, A3.
  - rewrite X. exact B.
Qed.

Lemma kept_list p l m : length l = length m -> forallb (fun y => Qeqb (fst y) (p * snd y)) (combine l m) = true ->
  map (fun q => ofQ q : F) l = map (mul (ofQ p)) (map (fun q => ofQ q : F) m).
Proof. revert m; induction l as [| x l IH]; intros [| y m] Len H; simpl in *; try easy.
  rewrite andb_true_iff in H; destruct H as [E H]. apply Qeq_bool_iff in E. now rewrite (ofQ_eq F E), ofQ_mul, (IH m) by auto. Qed.

Definition resting (v : positive) : Prop := exists n u, PositiveMap.find v nodes = Some n /\ l_bound n = Rest /\ l_upper n = Some u.

Definition ofQs (l : list Q) : list F := map (fun q => ofQ q) l.

Lemma kept_ok M ts v e p k : edge_ok M e -> in_domain mu (ofQs ts) -> phi mu (ofQs ts) = Some v -> kept width nodes ts e = Some p ->
  (resting (e_child e) -> leq (value k (rows (e_child e))) (phi mu (ofQs (totals (rows (e_child e)))))) ->
  (0 <= p)%Q /\ leq (value k (map (of_label C (e_label e)) M)) (Some (ofQ p * v)).
Proof.
  intros (X & Len & _ & _ & V) D Ph H IH. unfold kept in H. set (q := part_of ts (image_of width nodes e)) in *.
  match type of H with (if ?b then _ else _) = _ => destruct b eqn:Kp; [| easy] end. injection H as <-.
  rewrite !andb_true_iff in Kp. destruct Kp as [[[B P] Ln] E]. apply Qle_bool_iff in P. apply Nat.eqb_eq in Ln. split; [assumption |].
  assert (Rs : resting (e_child e)).
  { destruct (PositiveMap.find (e_child e) nodes) as [n |] eqn:Fd; [| easy]. exists n. destruct (l_bound n) eqn:Bd; try easy.
    destruct (l_upper n) as [u |] eqn:U; [| easy]. now exists u. }
  specialize (IH Rs). rewrite V. set (N := rows (e_child e)) in *.
  assert (Dn : in_domain mu (ofQs (totals N))) by (apply domain_totals, node_fine).
  assert (Im : ofQs (image_of width nodes e) = map (fun t => ofQ (fst t) * ofQ (total (snd t))) (combine (e_scales e) N)).
  { unfold ofQs, image_of. rewrite map_map. apply map_ext. intro t. now rewrite (ofQ_eq F (Qred_correct _)), ofQ_mul. }
  assert (Tot : map (fun t : Q * list (positive * Q) => ofQ (total (snd t)) : F) (combine (e_scales e) N) = ofQs (totals N)).
  { unfold ofQs, totals. rewrite map_map. apply (map_snd_combine (fun r => ofQ (total r) : F)). exact Len. }
  pose proof (phi_along mu_ok (L := combine (e_scales e) N) (f := fun r => ofQ (total r))) as Al. cbv beta in Al.
  rewrite Tot, <- Im, map_fst_combine in Al by exact Len. specialize (Al X Dn).
  assert (Hd : hd 0 (ofQs (totals N)) = ofQ (total (first_row N))) by (destruct N; simpl; [now rewrite ofQ_0 | reflexivity]).
  rewrite Hd in Al. unfold ofQs in Al at 1. rewrite (kept_list Ln E) in Al. fold (ofQs ts) in Al.
  rewrite (phi_mul_some mu_ok (ofQ_ge0 F P) D Ph) in Al. rewrite Al. apply plus_leq; [| apply leq_refl].
  apply times_leq; [now apply lt_le, (factor_gt0 mu_ok) | exact IH].
Qed.

Lemma all_kept_ok M ts v es p k : (forall e, In e es -> edge_ok M e) -> in_domain mu (ofQs ts) -> phi mu (ofQs ts) = Some v ->
  all_kept width nodes ts es = Some p ->
  (forall w, resting w -> leq (value k (rows w)) (phi mu (ofQs (totals (rows w))))) ->
  leq (esum (map (fun e => value k (map (of_label C (e_label e)) M)) es)) (Some (ofQ p * v)).
Proof.
  revert p; induction es as [| e es IH]; intros p Ok D Ph H IHk; cbn [all_kept map esum] in *.
  - injection H as <-. rewrite ofQ_0. apply le_by with (0 : F); [ring | apply le_refl].
  - destruct (kept width nodes ts e) as [q |] eqn:Ke; [| easy]. destruct (all_kept width nodes ts es) as [q' |]; [| easy]. injection H as <-.
    destruct (kept_ok (k := k) (Ok e (or_introl eq_refl)) D Ph Ke (IHk _)) as [_ B].
    rewrite (ofQ_eq F (Qred_correct _)), ofQ_add. replace ((ofQ q + ofQ q') * v) with (ofQ q * v + ofQ q' * v) by ring.
    change (Some (ofQ q * v + ofQ q' * v)) with (plus (Some (ofQ q * v)) (Some (ofQ q' * v))).
    apply plus_leq; [exact B |]. apply IH; auto. intros; apply Ok; now right.
Qed.

Lemma seen_at_0 M : value 0 M = phi mu (ofQs (totals M)).
Proof. now rewrite value_0, ones. Qed.

Lemma rest_bound k : forall v, resting v -> leq (value k (rows v)) (phi mu (ofQs (totals (rows v)))).
Proof.
  induction k as [| k IH]; intros v Rv.
  - rewrite seen_at_0. apply leq_refl.
  - destruct Rv as (n & u & E & B & U). pose proof (upper_checked E U) as Ck. unfold check_leak_upper in Ck.
    assert (Rw : rows v = rows_at width (l_columns n)) by (unfold node_rows; now rewrite E). rewrite <- Rw in Ck.
    pose proof (seen_ok (node_fine v)) as Se. destruct (bounds K (totals (rows v))) as [e |]; [| easy]. destruct Se as (x & Sx & _).
    rewrite seen_at_0 in Sx. rewrite Sx, andb_true_iff, B in *. destruct Ck as [_ Ck].
    destruct (edges_of C K width nodes n) as [es |] eqn:T; [| easy]. destruct (node_follows E T) as [Ok' V]. pose proof (fun e I => proj1 (Ok' e I)) as Ok. rewrite V.
    destruct (all_kept width nodes (totals (rows v)) es) as [p |] eqn:Al; [| easy].
    pose proof (domain_totals (node_fine v)) as D. fold (ofQs (totals (rows v))) in D.
    eapply leq_trans; [apply (all_kept_ok Ok D Sx Al IH) |]. simpl.
    rewrite andb_true_iff in Ck. destruct Ck as [P Ck]. apply Qle_bool_iff in P.
    assert (Px : map (mul (ofQ p)) (ofQs (totals (rows v))) = ofQs (totals (rows v))).
    { unfold ofQs. rewrite map_map. apply map_ext_in. intros q I. rewrite forallb_forall in Ck. specialize (Ck q I).
      apply Qeq_bool_iff in Ck. rewrite <- ofQ_mul. now apply ofQ_eq. }
    pose proof (phi_mul_some mu_ok (ofQ_ge0 F P) D Sx) as M. rewrite Px, Sx in M. injection M as M. rewrite <- M. apply le_refl.
Qed.

Lemma ahead_bound M named line covers n : known C M -> length M = width -> mu = best_measure F ->
  check_ahead known_state R width M named line covers = true -> leq (value n M) (Some (ofQ (bestQ (totals M)))).
Proof.
  intros Kn Len Best H. unfold check_ahead in H. set (lead := nth line ([] :: M) []) in *. rewrite andb_true_iff, forallb_forall in H.
  destruct H as [Ln H]. apply Nat.leb_le in Ln.
  assert (Kl : inside C lead /\ (lead = [] \/ In lead M)).
  { unfold lead. destruct line as [| k]; simpl; [split; [easy | now left] |].
    assert (I : In (nth k M []) M) by (apply nth_In; lia). split; [now apply Kn | now right]. }
  destruct Kl as [Kl Lead].
  assert (B : forall k w, (k <= width)%nat -> eval (nth k ([] :: M) []) (after F C w) <= eval lead (after F C w)).
  { intros k w Hk. assert (Ik : In k (seq 0 (S width))) by (apply in_seq; lia). specialize (H k Ik). rewrite andb_true_iff, forallb_forall in H.
    destruct H as [Mv A]. set (row := nth k ([] :: M) []) in *.
    assert (Kr : inside C row).
    { unfold row. destruct k as [| k]; simpl; [easy |]. apply Kn, nth_In. lia. }
    assert (Kc : inside C (row ++ scale (- (1)) lead)).
    { intros s q I. apply in_app_iff in I; destruct I as [I | I]; [now apply (Kr s q) |].
      apply in_map_iff in I; destruct I as ([t p] & E & I). injection E as <- _. now apply (Kl t p). }
    set (moves := match find _ covers with Some c => snd c | None => [] end) in *.
    assert (G : gains F C (row ++ scale (- (1)) lead) (S (length w)) (ends_in w) <= 0).
    { apply (@covers_bound F C C_ok R R_ok moves); auto. intros m Im. specialize (Mv m Im). rewrite !andb_true_iff in Mv.
      destruct Mv as [[[[_ W] Ki] Kj] _]. split; [now apply Qle_bool_iff | split; now apply known_ok]. }
    unfold gains in G. rewrite (eval_ext (g := after F C w)) in G.
    - rewrite eval_app, eval_scale, ofQ_opp, ofQ_1 in G. apply le_by with (0 - (eval row (after F C w) + - (1) * eval lead (after F C w))); [ring | now apply sub_ge0].
    - intros s q I. apply (pr_ends F C_ok). now apply (Kc s q). }
  apply leq_trans with (esum (map (fun w => Some (eval lead (after F C w))) (words C n))).
  - apply esum_le. intros w _. rewrite Best. apply best_lub.
    + specialize (B 0%nat w (Nat.le_0_l _)). exact B.
    + intros x I. apply in_map_iff in I; destruct I as (r & <- & I). destruct (In_nth M r [] I) as (k & Hk & E).
      specialize (B (S k) w). simpl in B. rewrite E in B. apply B. lia.
  - rewrite esum_some, (sums_to_total F C_ok n Kl). destruct Lead as [-> | I].
    + simpl. apply ofQ_le. apply bestQ_ge0.
    + unfold leq. rewrite best_map. apply best_ge. unfold totals. rewrite map_map. now apply in_map with (f := fun r => ofQ (total r)).
Qed.

Lemma ratios_after w k l r : R k l = Some r -> after F C w k <= ofQ r * after F C w l.
Proof. intro H. destruct (R_ok H) as (Hk & Hl & _). rewrite <- !(pr_ends F C_ok) by assumption. exact (ratios_bound_events F C_ok R_ok (S (length w)) (ends_in w) H). Qed.

Lemma sum_linear (A : Type) (a b : F) (f g : A -> F) l : sum (map (fun x => a * f x + b * g x) l) = a * sum (map f l) + b * sum (map g l).
Proof. induction l as [| x l IH]; simpl; [| rewrite IH]; ring. Qed.

Lemma phi_of_pair q e : (0 <= q)%Q -> bounds K [q; 1%Q] = Some e -> leq (phi mu [ofQ q; 1]) (Some (ofQ (snd e))).
Proof.
  intros Q0 B. pose proof (bounds_ok K_ok (l := [q; 1%Q])) as H. rewrite B in H. simpl in H. rewrite ofQ_1 in H.
  destruct H as (v & V & [_ U]); [| rewrite V; exact U]. right. intros x [<- | [<- | []]]; [now apply ofQ_ge0 | apply one_ge0].
Qed.

Lemma chord_value v n most least u k : PositiveMap.find v nodes = Some n -> signed mu = false -> width = 2%nat ->
  chord R K (rows_at width (l_columns n)) most least u = true -> leq (value k (rows v)) (Some (ofQ u)).
Proof.
  intros E Sg W H. assert (Rv : rows v = rows_at width (l_columns n)) by (unfold node_rows; now rewrite E).
  pose proof (node_fine v) as [Kn Pos]. rewrite Rv in *. rewrite W in *. clear Rv W.
  set (M := rows_at 2 (l_columns n)) in *. unfold chord in H. set (left := nth 0 M []) in *. set (right := nth 1 M []) in *.
  assert (EM : M = [left; right]) by reflexivity. destruct Pos as [Pos | Pos]; [congruence |].
  assert (Il : In left M) by (rewrite EM; now left). assert (Ir : In right M) by (rewrite EM; right; now left).
  rewrite !andb_true_iff in H. destruct H as [[[[M0 L0] S1] S2] H]. apply Qltb_lt in M0. apply Qle_bool_iff in L0.
  destruct (bounds K [most; 1%Q]) as [e |] eqn:Be; [| easy]. destruct (bounds K [least; 1%Q]) as [e' |] eqn:Be'; [| easy].
  assert (N : forall w r, In r M -> nonnegative (after F C w) r).
  { intros w r I s q Is. split; [now apply (Pos r s q) | apply (after_ge0 F C_ok); now apply (Kn r I s q)]. }
  assert (X : forall w, eval left (after F C w) <= ofQ most * eval right (after F C w)).
  { intro w. apply (stays_below_ok R_ok (g := after F C w)) with (r := most) in S1; auto; apply ratios_after. }
  assert (Y : forall w, ofQ least * eval right (after F C w) <= eval left (after F C w)).
  { intro w. apply orb_true_iff in S2. destruct S2 as [Z | S2].
    - apply Qeq_bool_iff in Z. rewrite (ofQ_eq F Z), ofQ_0. apply le_by with (eval left (after F C w)); [ring |].
      apply eval_ge0; intros s q Is; now apply (N w left Il s q).
    - apply (stays_below_ok R_ok (g := after F C w)) with (r := (/ least)%Q) in S2; auto; try apply ratios_after.
      destruct (Qeq_dec least 0) as [Z | Z].
      + rewrite (ofQ_eq F Z), ofQ_0. apply le_by with (eval left (after F C w)); [ring |].
        apply eval_ge0; intros s q Is; now apply (N w left Il s q).
      + apply (@ofQ_ge0 F) in L0. apply le_trans with (ofQ least * (ofQ (/ least) * eval left (after F C w))); [now apply le_scale |].
        assert (I1 : ofQ least * ofQ (/ least) = 1 :> F) by (rewrite <- ofQ_mul, <- ofQ_1; apply ofQ_eq; now apply Qmult_inv_r).
        apply le_by with (0 : F); [| apply le_refl]. replace (ofQ least * (ofQ (/ least) * eval left (after F C w)))
          with (ofQ least * ofQ (/ least) * eval left (after F C w)) by ring. rewrite I1. ring. }
  pose proof (phi_of_pair (Qlt_le_weak _ _ M0) Be) as Pm. pose proof (phi_of_pair L0 Be') as Pl.
  assert (Tl : sum (map (fun w => eval left (after F C w)) (words C k)) = ofQ (total left)) by (apply (sums_to_total F C_ok); now apply Kn).
  assert (Tr : sum (map (fun w => eval right (after F C w)) (words C k)) = ofQ (total right)) by (apply (sums_to_total F C_ok); now apply Kn).
  destruct (Qeqb most least) eqn:Eq.
  - rewrite andb_true_iff in H. destruct H as [_ H]. apply Qeq_bool_iff in Eq. apply Qle_bool_iff in H.
    apply leq_trans with (esum (map (fun w => Some (ofQ (snd e) * eval right (after F C w) + 0 * eval right (after F C w))) (words C k))).
    + apply esum_le. intros w _. rewrite EM. unfold masses; simpl map.
      assert (Ex : eval left (after F C w) = eval right (after F C w) * ofQ most).
      { apply le_antisym; [eapply le_by; [| apply sub_ge0, (X w)]; ring |]. eapply le_by; [| apply sub_ge0, (Y w)]. rewrite (ofQ_eq F Eq). ring. }
      assert (R0 : 0 <= eval right (after F C w)) by (apply eval_ge0; intros s q Is; now apply (N w right Ir s q)).
      replace [eval left (after F C w); eval right (after F C w)] with (map (mul (eval right (after F C w))) [ofQ most; 1])
        by (simpl; rewrite Ex; f_equal; f_equal; ring).
      destruct (phi mu [ofQ most; 1]) as [x |] eqn:Px; [| easy].
      rewrite (@phi_mul_some F mu _ [ofQ most; 1] x mu_ok R0); [| | assumption].
      * unfold leq. apply le_by with (eval right (after F C w) * (ofQ (snd e) - x)); [ring | apply le_mul; [assumption | now apply sub_ge0]].
      * right. intros z [<- | [<- | []]]; [now apply ofQ_ge0, Qlt_le_weak | apply one_ge0].
    + rewrite esum_some, sum_linear, Tr. unfold leq. apply le_trans with (2 := ofQ_le F H). rewrite ofQ_mul. apply le_by with (0 : F); [ring | apply le_refl].
  - cbv zeta in H. rewrite andb_true_iff in H. destruct H as [Lt H]. apply Qltb_lt in Lt. apply Qle_bool_iff in H. rewrite Qred_correct in H.
    set (i := inv (ofQ (most - least)) : F). assert (D0 : 0 < (ofQ (most - least) : F)) by (apply ofQ_gt0; now apply Qlt_minus_iff in Lt).
    apply leq_trans with (esum (map (fun w => Some ((i * ofQ (snd e) - i * ofQ (snd e')) * eval left (after F C w)
      + (ofQ most * i * ofQ (snd e') - ofQ least * i * ofQ (snd e)) * eval right (after F C w))) (words C k))).
    + apply esum_le. intros w _. rewrite EM. unfold masses; simpl map.
      eapply leq_trans; [apply (chord_bound mu_ok Lt L0 (Y w) (X w) Pm Pl) |]. unfold leq. fold i. apply le_by with (0 : F); [ring | apply le_refl].
    + rewrite esum_some, sum_linear, Tl, Tr. unfold leq. apply le_trans with (2 := ofQ_le F H). unfold Qdiv.
      assert (Ei : ofQ (/ (most - least)) = i :> F).
      { unfold i. assert (Nz : ~ (most - least == 0)%Q) by (intro Z; apply Qlt_minus_iff in Lt; unfold Qminus in Z; rewrite Z in Lt; now apply Qlt_irrefl in Lt).
        assert (I1 : ofQ (/ (most - least)) * ofQ (most - least) = 1 :> F) by (rewrite <- ofQ_mul, <- ofQ_1; apply ofQ_eq; rewrite Qmult_comm; now apply Qmult_inv_r).
        replace (ofQ (/ (most - least)) : F) with (ofQ (/ (most - least)) * ofQ (most - least) * inv (ofQ (most - least)) : F) by (field; now apply lt_neq).
        rewrite I1. ring. }
      rewrite ofQ_add, !ofQ_mul, Ei, !ofQ_sub, !ofQ_mul. apply le_by with (0 : F); [ring | apply le_refl].
Qed.

Theorem node_bounds_from_above k : forall v u, node_upper nodes v = Some u -> leq (value k (rows v)) (Some (ofQ u)).
Proof.
  induction k as [| k IH]; intros v u U; unfold node_upper in U; destruct (PositiveMap.find v nodes) as [n |] eqn:E; try easy;
    pose proof (upper_checked E U) as Ck; unfold check_leak_upper in Ck;
    assert (Rv : rows v = rows_at width (l_columns n)) by (unfold node_rows; now rewrite E); pose proof (seen_ok (node_fine v)) as Se; rewrite Rv in Se;
    destruct (bounds K (totals (rows_at width (l_columns n)))) as [e |] eqn:Be; try easy;
    destruct Se as (x & Sx & [_ Ux]); rewrite andb_true_iff in Ck; destruct Ck as [Seen Ck]; apply Qle_bool_iff in Seen.
  - rewrite Rv, Sx. apply le_trans with (1 := Ux). now apply ofQ_le.
  - destruct (l_bound n) as [| | | most least | line covers] eqn:B.
    + destruct (edges_of C K width nodes n) as [es |] eqn:T; [| easy]. destruct (node_follows E T) as [Ok' V]. pose proof (fun e I => proj1 (Ok' e I)) as Ok. rewrite V.
      unfold at_most in Ck. destruct (weighed snd (node_upper nodes) es) as [y |] eqn:W; [| easy]. apply Qle_bool_iff in Ck.
      eapply leq_trans; [apply (weighed_above (k := k) Ok W) |]; [intros; now apply IH | now apply ofQ_le].
    + unfold at_most in Ck. destruct (sum_columns K (l_columns n)) as [y |] eqn:Sc; [| easy]. apply Qle_bool_iff in Ck.
      eapply leq_trans; [apply (columns_value (S k) E Sc) | now apply ofQ_le].
    + apply leq_trans with (phi mu (ofQs (totals (rows v)))); [apply rest_bound; now exists n, u |].
      rewrite <- seen_at_0, Rv, Sx. apply le_trans with (1 := Ux). now apply ofQ_le.
    + rewrite !andb_true_iff in Ck. destruct Ck as [[Sg W] Ck]. apply Nat.eqb_eq in W. apply (chord_value (S k) E) in Ck; auto.
      rewrite (same_signed K_ok). now destruct (is_signed K).
    + rewrite andb_true_iff in Ck. destruct Ck as [Sg Ck]. pose proof (signed_best Sg) as Best.
      pose proof (node_fine v) as [Kn _]. rewrite Rv in *.
      eapply leq_trans; [eapply (ahead_bound (S k) Kn) |]; [unfold rows_at; now rewrite map_length, seq_length | exact Best | exact Ck |].
      unfold leq. assert (Ex : x = ofQ (bestQ (totals (rows_at width (l_columns n))))).
      { rewrite seen_at_0 in Sx. rewrite Best in Sx. simpl in Sx. injection Sx as <-. symmetry. apply best_map. }
      rewrite <- Ex. apply le_trans with (1 := Ux). now apply ofQ_le.
Qed.

(** *** From below *)
Lemma edge_below M e k z x y : edge_ok M e -> leq (Some (ofQ (z + x))) (value k (rows (e_child e))) ->
  (forall f : F, 0 < f -> between (e_factor e) f -> ofQ y <= f * ofQ x) ->
  leq (Some (ofQ (fst (product z (e_factor e)) + fst (e_shift e) + y))) (value k (map (of_label C (e_label e)) M)).
Proof.
  intros (X & _ & B1 & B2 & V) H Y. rewrite V. pose proof (factor_gt0 mu_ok X) as P. specialize (Y _ P B1).
  destruct (value k (rows (e_child e))) as [v |]; [| exact I]. simpl in *. rewrite !ofQ_add in *.
  set (f := scale_factor mu (e_scales e)) in *. pose proof (proj1 (product_ok z B1)) as Pz. fold f in Pz.
  apply le_by with ((ofQ z * f - ofQ (fst (product z (e_factor e)))) + (f * ofQ x - ofQ y) + f * (v - (ofQ z + ofQ x))
    + (scale_shift mu (e_scales e) * ofQ (total (first_row (rows (e_child e)))) - ofQ (fst (e_shift e)))); [ring |].
  repeat apply add_ge0; try (apply le_mul; [now apply lt_le |]); apply sub_ge0; auto. apply B2.
Qed.

(** Children that are worth [extra] more than their bounds make what they follow worth [gain] more. *)
Lemma weighed_below M bound es y k (extra : positive -> Q) (gain : edge -> Q) : (forall e, In e es -> edge_ok M e) -> weighed fst bound es = Some y ->
  (forall e z, In e es -> bound (e_child e) = Some z -> leq (Some (ofQ (z + extra (e_child e)))) (value k (rows (e_child e)))) ->
  (forall e (f : F), In e es -> 0 < f -> between (e_factor e) f -> ofQ (gain e) <= f * ofQ (extra (e_child e))) ->
  leq (Some (ofQ (y + fold_right (fun e x => (gain e + x)%Q) 0%Q es))) (esum (map (fun e => value k (map (of_label C (e_label e)) M)) es)).
Proof.
  revert y; induction es as [| e es IH]; cbn [weighed map esum fold_right]; intros y Ok W H G.
  - injection W as <-. unfold leq. rewrite ofQ_add, ofQ_0. apply le_by with (0 : F); [ring | apply le_refl].
  - destruct (bound (e_child e)) as [u |] eqn:B; [| easy]. destruct (weighed fst bound es) as [z |]; [| easy]. injection W as <-.
    assert (A : leq (Some (ofQ (fst (product u (e_factor e)) + fst (e_shift e) + gain e))) (value k (map (of_label C (e_label e)) M))).
    { apply edge_below with (x := extra (e_child e)); [apply Ok; now left | apply H; [now left | assumption] | intros f; apply G; now left]. }
    assert (A' : leq (Some (ofQ (z + fold_right (fun e x => (gain e + x)%Q) 0%Q es))) (esum (map (fun e => value k (map (of_label C (e_label e)) M)) es))).
    { apply IH; [intros; apply Ok; now right | reflexivity | intros e' u' I; apply H; now right | intros e' f I; apply G; now right]. }
    eapply leq_trans; [| apply (plus_leq A A')]. unfold leq, plus. rewrite <- ofQ_add. apply ofQ_le. rewrite Qred_correct. lra.
Qed.

Definition low (v : positive) : Q := match finite_lower nodes v with Some z => z | None => 0%Q end.
Definition is_finite (v : positive) : Prop := exists z, finite_lower nodes v = Some z.
Definition height (v : positive) : Q := match weight_of nodes v with Some h => h | None => 1%Q end.

(** With its bound, but for [d]. *)
Definition holds (k : nat) (v : positive) (d : Q) : Prop := leq (Some (ofQ (low v - d))) (value k (rows v)).
Definition near (v : positive) : Prop := forall r, (0 < r)%Q -> exists k, holds k v r.

Lemma holds_later m n v d : (m <= n)%nat -> holds m v d -> holds n v d.
Proof. intros Le H. apply leq_trans with (1 := H). apply (value_mono C_ok mu_ok (node_fine v) Le). Qed.

Lemma holds_more k v d d' : (d <= d')%Q -> holds k v d -> holds k v d'.
Proof. intros Le H. eapply leq_trans; [| exact H]. apply ofQ_le. lra. Qed.

Lemma height_gt0 v : (0 < height v)%Q.
Proof.
  unfold height, weight_of. destruct (PositiveMap.find v nodes) as [n |] eqn:E; [| reflexivity].
  destruct (l_weight n) as [h |] eqn:W; [| reflexivity]. apply node_checked in E. unfold check_leak_node in E. rewrite !andb_true_iff, W in E.
  apply Qltb_lt. tauto.
Qed.

Lemma start_before v n : PositiveMap.find v nodes = Some n -> (start v n <= v)%positive.
Proof. intro E. unfold start. destruct (l_cycle n) as [a |] eqn:Cy; [| apply Pos.le_refl].
  apply node_checked in E. unfold check_leak_node in E. rewrite !andb_true_iff, Cy in E. apply Pos.leb_le. tauto. Qed.

Lemma inner_ok es x : inner nodes es = Some x ->
  (x == fold_right (fun e x => height (e_child e) * snd (e_factor e) + x) 0 es)%Q.
Proof.
  revert x; induction es as [| e es IH]; simpl; intros x H; [now injection H as <- |]. unfold height.
  destruct (weight_of nodes (e_child e)) as [h |]; [| easy]. destruct (inner nodes es) as [y |]; [| easy]. injection H as <-.
  now rewrite Qred_correct, (IH y eq_refl).
Qed.

(** What is lost of one round: on the cycle in proportion to the weights, before it little. *)
Lemma lost_sum n es (B eps : Q) : (0 <= B)%Q -> (0 <= eps)%Q -> (forall e, In e es -> (0 <= snd (e_factor e))%Q) ->
  (- B * fold_right (fun e x => height (e_child e) * snd (e_factor e) + x) 0 (filter (fun e => inside_cycle nodes n (e_child e)) es)
   - eps * fold_right (fun e x => snd (e_factor e) + x) 0 es
   <= fold_right (fun e x => - (if inside_cycle nodes n (e_child e) then B * height (e_child e) else eps) * snd (e_factor e) + x) 0 es)%Q.
Proof.
  intros B0 E0 P. induction es as [| e es IH]; simpl; [lra |].
  assert (Pe : (0 <= snd (e_factor e))%Q) by (apply P; now left). specialize (IH (fun e I => P e (or_intror I))).
  destruct (inside_cycle nodes n (e_child e)); simpl; [| lra]. assert (Q1 : (0 <= eps * snd (e_factor e))%Q) by now apply Qmult_le_0_compat. lra.
Qed.

Lemma finite_node v : is_finite v -> exists n z, PositiveMap.find v nodes = Some n /\ l_lower n = Some (Finite z) /\ low v = z.
Proof. intros [z H]. unfold low. rewrite H. unfold finite_lower, node_lower in H. destruct (PositiveMap.find v nodes) as [n |]; [| easy].
  destruct (l_lower n) as [[y |] |] eqn:Lo; try easy. injection H as ->. now exists n, z. Qed.

Lemma finite_checked v n z : PositiveMap.find v nodes = Some n -> l_lower n = Some (Finite z) ->
  check_finite nodes v n (bounds K (totals (rows_at width (l_columns n)))) (edges_of C K width nodes n) z = true.
Proof. intros E Z. apply node_checked in E. unfold check_leak_node in E. rewrite !andb_true_iff, Z in E. tauto. Qed.

Lemma factor_ge0 M e : edge_ok M e -> (0 <= snd (e_factor e))%Q.
Proof. intros (X & _ & [_ B] & _). pose proof (factor_gt0 mu_ok X) as P. apply Qnot_lt_le. intro N. apply (@ofQ_lt F) in N.
  rewrite ofQ_0 in N. apply N. apply le_trans with (2 := B). now apply lt_le. Qed.

(** One round: what is missing on a cycle becomes less. *)
Lemma round v n (T : Q) : is_finite v -> PositiveMap.find v nodes = Some n -> (0 < T)%Q -> exists c0, (0 < c0)%Q /\ forall c B k, (0 < c)%Q -> (c <= c0)%Q -> (T <= B)%Q ->
  (forall u m, is_finite u -> PositiveMap.find u nodes = Some m -> start u m = start v n -> holds k u (B * height u)) ->
  (forall u, is_finite u -> (u < start v n)%positive -> holds k u c) ->
  holds (S k) v ((B - c) * height v).
Proof.
  intros Fv E T0. destruct (finite_node Fv) as (n' & z & E' & Z & Lz). assert (n' = n) by congruence. subst n'.
  pose proof (finite_checked E Z) as Ck. pose proof (height_gt0 v) as H0.
  assert (Rv : rows v = rows_at width (l_columns n)) by (unfold node_rows; now rewrite E).
  assert (Leaf : match bounds K (totals (rows_at width (l_columns n))) with Some e => Qleb z (fst e) | None => true end = true ->
    exists c0, (0 < c0)%Q /\ forall c B k, (0 < c)%Q -> (c <= c0)%Q -> (T <= B)%Q -> holds (S k) v ((B - c) * height v)).
  { intro Lf. exists T. split; [assumption |]. intros c B k C0 Cc TB. apply holds_more with 0%Q.
    - apply Qmult_le_0_compat; [lra | now apply Qlt_le_weak].
    - apply holds_later with 0%nat; [lia |]. unfold holds. rewrite Lz. pose proof (seen_ok (node_fine v)) as Se. rewrite Rv in Se |- *.
      destruct (bounds K _) as [e |].
      + destruct Se as (x & -> & [Lx _]). apply Qle_bool_iff in Lf. apply le_trans with (2 := Lx). apply ofQ_le. lra.
      + rewrite Se. exact I. }
  unfold check_finite in Ck. destruct (l_stop n); [destruct (Leaf Ck) as (c0 & C0 & Lf); exists c0; split; [assumption | intros; now apply Lf] |].
  destruct (edges_of C K width nodes n) as [es |] eqn:Es; [| destruct (Leaf Ck) as (c0 & C0 & Lf); exists c0; split; [assumption | intros; now apply Lf]].
  clear Leaf. rewrite !andb_true_iff, forallb_forall in Ck. destruct Ck as [[Where W] In_]. destruct (node_follows E Es) as [Ok' V]. pose proof (fun e I => proj1 (Ok' e I)) as Ok.
  destruct (weighed fst (finite_lower nodes) es) as [y |] eqn:Wy; [| easy]. apply Qle_bool_iff in W.
  set (ins := filter (fun e => inside_cycle nodes n (e_child e)) es) in *.
  set (s := fold_right (fun e x => (height (e_child e) * snd (e_factor e) + x)%Q) 0%Q ins).
  set (A := fold_right (fun e x => (snd (e_factor e) + x)%Q) 0%Q es).
  assert (P : forall e, In e es -> (0 <= snd (e_factor e))%Q) by (intros e I; apply (factor_ge0 (Ok e I))).
  assert (A0 : (0 <= A)%Q).
  { unfold A. clear -P. induction es as [| e es IH]; simpl; [lra |]. assert (P1 : (0 <= snd (e_factor e))%Q) by (apply P; now left).
    specialize (IH (fun e I => P e (or_intror I))). lra. }
  assert (D : (0 < height v - s)%Q).
  { unfold s. destruct ins as [| e ins']; [simpl; lra |]. destruct (l_weight n) as [h |] eqn:Wt; [| easy].
    destruct (inner nodes (e :: ins')) as [x |] eqn:Inn; [| easy]. apply Qltb_lt in In_. rewrite <- (inner_ok Inn).
    unfold height, weight_of. rewrite E, Wt. lra. }
  set (c0 := (T * (height v - s) / (A + height v))%Q). assert (AH : (0 < A + height v)%Q) by lra.
  assert (C0 : (0 < c0)%Q) by (unfold c0; apply Qlt_shift_div_l; [assumption |]; rewrite Qmult_0_l; now apply Qmult_lt_0_compat).
  exists c0. split; [assumption |]. intros c B k Cp Cc TB Inside Before. unfold holds. rewrite V.
  set (extra := fun u => (- (if inside_cycle nodes n u then B * height u else c))%Q).
  eapply leq_trans; [| apply (weighed_below (k := k) (extra := extra) (gain := fun e => (extra (e_child e) * snd (e_factor e))%Q) Ok Wy)].
  - apply ofQ_le. rewrite Lz. pose proof (@lost_sum n es B c) as Lost. fold ins in Lost. fold s in Lost. fold A in Lost. unfold extra.
    assert (Lost' := Lost ltac:(lra) ltac:(lra) P). clear Lost.
    apply Qle_trans with (y + (- B * s - c * A))%Q; [| now apply Qplus_le_r].
    assert (Key : (c * (A + height v) <= T * (height v - s))%Q).
    { apply Qle_trans with (c0 * (A + height v))%Q; [apply Qmult_le_compat_r; lra |]. unfold c0. rewrite div_times by assumption. apply Qle_refl. }
    assert (Key2 : (T * (height v - s) <= B * (height v - s))%Q) by (apply Qmult_le_compat_r; lra). lra.
  - intros e x Ie Fx. assert (Fe : is_finite (e_child e)) by now exists x. unfold extra. specialize (Where e Ie). apply orb_true_iff in Where.
    assert (Lx : low (e_child e) = x) by (unfold low; now rewrite Fx).
    destruct (inside_cycle nodes n (e_child e)) eqn:Ic.
    + unfold inside_cycle in Ic. destruct (l_cycle n) as [a |] eqn:Cy; [| easy]. destruct (PositiveMap.find (e_child e) nodes) as [m |] eqn:Fm; [| easy].
      destruct (l_cycle m) as [b |] eqn:Cm; [| easy]. apply Pos.eqb_eq in Ic. subst b.
      specialize (Inside (e_child e) m Fe Fm). unfold start in Inside. rewrite Cy, Cm in Inside. specialize (Inside eq_refl).
      unfold holds in Inside. rewrite Lx in Inside. exact Inside.
    + destruct Where as [Where | Where]; [| easy]. apply Pos.ltb_lt in Where. specialize (Before (e_child e) Fe Where).
      unfold holds in Before. rewrite Lx in Before. exact Before.
  - intros e f Ie Fp [_ Fb]. unfold extra. rewrite ofQ_mul. set (d := (if inside_cycle nodes n (e_child e) then _ else _)%Q).
    assert (Dd : (0 <= d)%Q) by (unfold d; destruct (inside_cycle _ _ _); [apply Qmult_le_0_compat; [lra | apply Qlt_le_weak, height_gt0] | lra]).
    rewrite ofQ_opp. apply (@ofQ_ge0 F) in Dd. apply le_by with (ofQ d * (ofQ (snd (e_factor e)) - f)); [ring |]. apply le_mul; [assumption | now apply sub_ge0].
Qed.

Lemma all_near eps l : (0 < eps)%Q -> (forall u, In u l -> near u) -> exists k, forall u, In u l -> holds k u eps.
Proof.
  intros E. induction l as [| u l IH]; intro H; [now exists O |]. destruct (H u (or_introl eq_refl) eps E) as [k K1].
  destruct IH as [k' K2]; [intros; apply H; now right |]. exists (Nat.max k k').
  intros w [<- | I]; [apply holds_later with k | apply holds_later with k']; auto; lia.
Qed.

Lemma common_step (l : list positive) (good : positive -> Q -> Prop) :
  (forall u, In u l -> exists c0, (0 < c0)%Q /\ forall c, (0 < c)%Q -> (c <= c0)%Q -> good u c) ->
  exists c, (0 < c)%Q /\ forall u, In u l -> good u c.
Proof.
  intro H. assert (A : exists c0, (0 < c0)%Q /\ forall c, (0 < c)%Q -> (c <= c0)%Q -> forall u, In u l -> good u c).
  { induction l as [| u l IH]; [exists 1%Q; split; [reflexivity | easy] |].
    destruct (H u (or_introl eq_refl)) as (c1 & P1 & G1). destruct IH as (c2 & P2 & G2); [intros; apply H; now right |].
    exists (smaller_of c1 c2). unfold smaller_of. destruct (Qle_bool c1 c2) eqn:E.
    - apply Qle_bool_iff in E. split; [assumption |]. intros c Cp Cc w [<- | I]; [now apply G1 | apply G2; auto; lra].
    - assert (c2 < c1)%Q by (apply Qnot_le_lt; intro N; apply Qle_bool_iff in N; congruence).
      split; [assumption |]. intros c Cp Cc w [<- | I]; [apply G1; auto; lra | now apply G2]. }
  destruct A as (c0 & P & G). exists c0. split; [assumption |]. apply G; [assumption | apply Qle_refl].
Qed.

Lemma some_rounds (x c : Q) : (0 < c)%Q -> exists j, (x <= inject_Z (Z.of_nat j) * c)%Q.
Proof.
  intro Cp. exists (Z.to_nat (Qceiling (x / c))). pose proof (Qle_ceiling (x / c)) as Ce.
  assert (A : (x / c <= inject_Z (Z.of_nat (Z.to_nat (Qceiling (x / c)))))%Q).
  { apply Qle_trans with (1 := Ce). rewrite <- Zle_Qle. lia. }
  apply (Qmult_le_compat_r _ _ c) in A; [| now apply Qlt_le_weak]. rewrite div_times in A by assumption. exact A.
Qed.

Lemma some_loss k u : exists B, (0 <= B)%Q /\ holds k u (B * height u).
Proof.
  pose proof (height_gt0 u) as H0. pose proof (seen_ok (node_fine u)) as Se. destruct (bounds K (totals (rows u))) as [e |].
  - destruct Se as (x & Sx & [Lx _]). exists (larger_of 0%Q ((low u - fst e) / height u)). split; [apply larger_of_l |].
    apply holds_later with 0%nat; [lia |]. unfold holds. rewrite Sx. apply le_trans with (2 := Lx). apply ofQ_le.
    pose proof (@larger_of_r 0%Q ((low u - fst e) / height u)%Q) as A. apply (Qmult_le_compat_r _ _ (height u)) in A; [| now apply Qlt_le_weak].
    rewrite div_times in A by assumption. lra.
  - exists 0%Q. split; [apply Qle_refl |]. apply holds_later with 0%nat; [lia |]. unfold holds. rewrite Se. exact I.
Qed.

Lemma common_loss k l : exists B, (0 <= B)%Q /\ forall u, In u l -> holds k u (B * height u).
Proof.
  induction l as [| u l (B & B0 & H)]; [exists 0%Q; split; [apply Qle_refl | easy] |]. destruct (some_loss k u) as (B' & B0' & H').
  exists (B + B')%Q. split; [lra |]. intros w [<- | I].
  - apply holds_more with (B' * height u)%Q; [apply Qmult_le_compat_r; [lra | apply Qlt_le_weak, height_gt0] | assumption].
  - apply holds_more with (B * height w)%Q; [apply Qmult_le_compat_r; [lra | apply Qlt_le_weak, height_gt0] | now apply H].
Qed.

Definition finite_at (u : positive) : bool := match finite_lower nodes u with Some _ => true | None => false end.

Lemma finite_at_ok u : finite_at u = true <-> is_finite u.
Proof. unfold finite_at, is_finite. destruct (finite_lower nodes u) as [z |]; split; try easy; [now exists z | intros [z Z]; discriminate]. Qed.

Lemma finite_listed u : is_finite u -> In u (map fst listed).
Proof. intro H. destruct (finite_node H) as (n & z & E & _). apply build_found in E. now apply in_map with (f := fst) in E. Qed.

Lemma block_near a : (forall u, is_finite u -> (u < a)%positive -> near u) ->
  forall v n, is_finite v -> PositiveMap.find v nodes = Some n -> start v n = a -> near v.
Proof.
  intros Before v n Fv Nv Sv r Hr. set (T := (r / height v)%Q). pose proof (height_gt0 v) as Hv.
  assert (T0 : (0 < T)%Q) by (unfold T; apply Qlt_shift_div_l; [assumption |]; now rewrite Qmult_0_l).
  set (on := fun u => match PositiveMap.find u nodes with Some m => Pos.eqb (start u m) a | None => false end).
  set (block := filter (fun u => finite_at u && on u) (map fst listed)).
  set (first := filter (fun u => finite_at u && Pos.ltb u a) (map fst listed)).
  assert (InB : forall u, In u block <-> is_finite u /\ exists m, PositiveMap.find u nodes = Some m /\ start u m = a).
  { intro u. unfold block. rewrite filter_In, andb_true_iff, finite_at_ok. unfold on. split.
    - intros (_ & Fu & O). split; [assumption |]. destruct (PositiveMap.find u nodes) as [m |]; [| easy]. exists m. split; [reflexivity | now apply Pos.eqb_eq].
    - intros (Fu & m & Em & Sm). split; [now apply finite_listed | split; [assumption |]]. rewrite Em. now apply Pos.eqb_eq. }
  assert (InF : forall u, is_finite u -> (u < a)%positive -> In u first).
  { intros u Fu Lu. unfold first. rewrite filter_In, andb_true_iff, finite_at_ok, Pos.ltb_lt. split; [now apply finite_listed | now split]. }
  destruct (@common_step block (fun u c => forall B k, (T <= B)%Q -> (forall w, In w block -> holds k w (B * height w)) ->
    (forall w, In w first -> holds k w c) -> holds (S k) u ((B - c) * height u))) as (c & Cp & Step).
  { intros u Iu. apply InB in Iu. destruct Iu as (Fu & m & Em & Sm). destruct (round Fu Em T0) as (c0 & C0 & Rd). exists c0. split; [assumption |].
    intros c Cp Cc B k TB Hin Hbe. apply (Rd c B k Cp Cc TB).
    - intros w m' Fw Ew Sw. apply Hin, InB. split; [assumption |]. exists m'. split; [assumption | congruence].
    - intros w Fw Lw. apply Hbe, InF; [assumption | congruence]. }
  destruct (@all_near c first Cp) as [k1 Near].
  { intros u Iu. unfold first in Iu. rewrite filter_In, andb_true_iff, finite_at_ok, Pos.ltb_lt in Iu. apply Before; tauto. }
  destruct (common_loss k1 block) as (B0 & B0' & Lost). destruct (some_rounds B0 Cp) as [j J].
  assert (Go : forall j B k, (k1 <= k)%nat -> (B <= T + inject_Z (Z.of_nat j) * c)%Q -> (forall w, In w block -> holds k w (B * height w)) ->
    exists k', forall w, In w block -> holds k' w (T * height w)).
  { assert (Done : forall B k, (B <= T)%Q -> (forall w, In w block -> holds k w (B * height w)) -> forall w, In w block -> holds k w (T * height w)).
    { intros B k BT H w Iw. apply holds_more with (B * height w)%Q; [apply Qmult_le_compat_r; [assumption | apply Qlt_le_weak, height_gt0] | now apply H]. }
    induction j0 as [| i IH]; intros B k Kk Bj H.
    - exists k. apply (Done B); [change (inject_Z (Z.of_nat 0)) with 0%Q in Bj; lra | assumption].
    - destruct (Qlt_le_dec T B) as [TB | BT]; [| exists k; now apply (Done B)].
      apply (IH (B - c)%Q (S k)); [lia | rewrite Nat2Z.inj_succ, <- Z.add_1_r, inject_Z_plus in Bj; change (inject_Z 1) with 1%Q in Bj; lra |].
      intros w Iw. apply (Step w Iw B k); [now apply Qlt_le_weak | assumption |]. intros u Iu. apply holds_later with k1; [assumption | now apply Near]. }
  destruct (Go j B0 k1 (le_n _)) as [k' Done]; [lra | assumption |]. exists k'.
  assert (Iv : In v block) by (apply InB; split; [assumption | now exists n]). specialize (Done v Iv).
  apply holds_more with (T * height v)%Q; [| assumption]. unfold T. rewrite div_times by assumption. apply Qle_refl.
Qed.

(** Theorem 2 of docs/theory/leakage.md: a lower bound is reached, or come as close to as one likes. *)
Theorem node_bounds_from_below : forall v, is_finite v -> near v.
Proof.
  assert (A : forall m v n, (Pos.to_nat (start v n) < m)%nat -> is_finite v -> PositiveMap.find v nodes = Some n -> near v).
  { induction m as [| m IH]; intros v n Hm Fv Nv; [lia |]. apply (@block_near (start v n)) with n; auto.
    intros u Fu Lu. destruct (finite_node Fu) as (n' & z & Eu & _). apply (IH u n'); auto. pose proof (start_before Eu). lia. }
  intros v Fv. destruct (finite_node Fv) as (n & z & E & _). apply (A (S (Pos.to_nat (start v n))) v n); auto.
Qed.

(** *** Sums that grow without end *)
Definition bounded_below (f : nat -> option F) : Prop := exists m, forall k, leq (Some (ofQ m)) (f k).

Lemma sum_bounded_below (A : Type) (f : A -> nat -> option F) l : (forall x, In x l -> bounded_below (f x)) -> bounded_below (fun k => esum (map (fun x => f x k) l)).
Proof.
  induction l as [| x l IH]; intro H; [exists 0%Q; intro k; rewrite ofQ_0; apply leq_refl |].
  destruct (H x (or_introl eq_refl)) as [m M]. destruct IH as [m' M']; [intros; apply H; now right |]. exists (m + m')%Q. intro k.
  eapply leq_trans; [| apply (plus_leq (M k) (M' k))]. unfold plus, leq. rewrite ofQ_add. apply le_refl.
Qed.

Lemma sum_unbounded (A : Type) (f : A -> nat -> option F) l a : In a l -> unbounded (f a) -> (forall x, In x l -> bounded_below (f x)) ->
  unbounded (fun k => esum (map (fun x => f x k) l)).
Proof.
  induction l as [| x l IH]; [easy |]. intros I U H b. destruct I as [-> | I].
  - destruct (@sum_bounded_below A f l) as [m M]; [intros; apply H; now right |]. destruct (U (b - m)%Q) as [k B]. exists k.
    eapply leq_trans; [| apply (plus_leq B (M k))]. unfold plus, leq. rewrite <- ofQ_add. apply ofQ_le. lra.
  - destruct (H x (or_introl eq_refl)) as [m M]. destruct (IH I U (fun y Y => H y (or_intror Y)) (b - m)%Q) as [k B]. exists k.
    eapply leq_trans; [| apply (plus_leq (M k) B)]. unfold plus, leq. rewrite <- ofQ_add. apply ofQ_le. lra.
Qed.

Lemma fine_bounded_below M : as_fine M -> bounded_below (fun k => value k M).
Proof.
  intros (M' & Fi & E). pose proof (seen_ok Fi) as Se. destruct (bounds K (totals M')) as [e |].
  - destruct Se as (x & Sx & [Lx _]). exists (fst e). intro k. rewrite (value_same C mu k E).
    eapply leq_trans; [| apply (value_mono C_ok mu_ok Fi (Nat.le_0_l k))]. rewrite Sx. exact Lx.
  - exists 0%Q. intro k. rewrite (value_same C mu k E).
    eapply leq_trans; [| apply (value_mono C_ok mu_ok Fi (Nat.le_0_l k))]. rewrite Se. exact I.
Qed.

Lemma growth_checked v n z h : PositiveMap.find v nodes = Some n -> l_grows n = Some (z, h) ->
  check_growth K width nodes (bounds K (totals (rows_at width (l_columns n)))) (edges_of C K width nodes n) z h = true.
Proof. intros E G. apply node_checked in E. unfold check_leak_node in E. rewrite !andb_true_iff, G in E. tauto. Qed.

Lemma first_holds v k : leq (Some (ofQ (at_first (bounds K (totals (rows v)))))) (value k (rows v)).
Proof.
  eapply leq_trans; [| apply (value_mono C_ok mu_ok (node_fine v) (Nat.le_0_l k))]. pose proof (seen_ok (node_fine v)) as Se.
  destruct (bounds K (totals (rows v))) as [e |]; [destruct Se as (x & -> & [Lx _]); exact Lx | rewrite Se; exact I].
Qed.

Lemma growth_holds k : forall v n z h, PositiveMap.find v nodes = Some n -> l_grows n = Some (z, h) ->
  leq (Some (ofQ (z + inject_Z (Z.of_nat k) * h))) (value k (rows v)).
Proof.
  induction k as [| k IH]; intros v n z h E G; pose proof (growth_checked E G) as Ck; unfold check_growth in Ck; rewrite !andb_true_iff in Ck;
    destruct Ck as [[H0 Z] Ck]; apply Qltb_lt in H0; apply Qle_bool_iff in Z;
    assert (Rv : rows v = rows_at width (l_columns n)) by (unfold node_rows; now rewrite E).
  - eapply leq_trans; [| apply first_holds]. rewrite Rv. apply ofQ_le. change (inject_Z (Z.of_nat 0)) with 0%Q. lra.
  - destruct (edges_of C K width nodes n) as [es |] eqn:Es; [| easy]. destruct (node_follows E Es) as [Ok V]. rewrite V.
    rewrite andb_true_iff in Ck. destruct Ck as [Gr Ck]. apply Qle_bool_iff in Gr. destruct (weighed fst (starts_at K width nodes) es) as [y |] eqn:Wy; [| easy].
    apply Qle_bool_iff in Ck. set (q := inject_Z (Z.of_nat k)).
    assert (Q0 : (0 <= q)%Q) by (unfold q; change 0%Q with (inject_Z 0); rewrite <- Zle_Qle; lia).
    eapply leq_trans; [| apply (weighed_below (k := k) (extra := (fun u => q * grows_by nodes u)%Q)
      (gain := (fun e => q * fst (product (grows_by nodes (e_child e)) (e_factor e)))%Q) (fun e I => proj1 (Ok e I)) Wy)].
    + apply ofQ_le. rewrite Nat2Z.inj_succ, <- Z.add_1_r, inject_Z_plus. fold q. change (inject_Z 1) with 1%Q.
      assert (S : (fold_right (fun e x => q * fst (product (grows_by nodes (e_child e)) (e_factor e)) + x) 0 es == q * growth nodes es)%Q).
      { clear. unfold growth. induction es as [| e es IH]; simpl; [lra |]. rewrite IH, Qred_correct. lra. }
      rewrite S. assert (A : (q * h <= q * growth nodes es)%Q) by (rewrite !(Qmult_comm q); now apply Qmult_le_compat_r). lra.
    + intros e u I Su. destruct (Ok e I) as [_ [Kn _]]. unfold starts_at in Su. injection Su as <-. unfold grows_by.
      destruct (PositiveMap.find (e_child e) nodes) as [m |] eqn:Em; [| now contradiction Kn].
      destruct (l_grows m) as [[z' h'] |] eqn:Gm; [exact (IH _ _ _ _ Em Gm) |].
      eapply leq_trans; [| apply first_holds]. unfold node_rows. rewrite Em. apply ofQ_le. lra.
    + intros e f I Fp Bf. pose proof (product_ok (grows_by nodes (e_child e)) Bf) as [Pl _]. rewrite !ofQ_mul. apply (@ofQ_ge0 F) in Q0.
      apply le_by with (ofQ q * (ofQ (grows_by nodes (e_child e)) * f - ofQ (fst (product (grows_by nodes (e_child e)) (e_factor e))))); [ring |].
      apply le_mul; [assumption | now apply sub_ge0].
Qed.

Lemma edge_unbounded M e : edge_ok M e -> (0 < fst (e_factor e))%Q -> unbounded (fun k => value k (rows (e_child e))) ->
  unbounded (fun k => value k (map (of_label C (e_label e)) M)).
Proof.
  intros (X & _ & [Bf _] & [Bs _] & Ve) Fp U b. set (y := larger_of 0%Q ((b - fst (e_shift e)) / fst (e_factor e))%Q). destruct (U y) as [k B].
  exists k. rewrite Ve. destruct (value k (rows (e_child e))) as [w |]; [| exact I]. simpl in *.
  pose proof (factor_gt0 mu_ok X) as P. set (f := scale_factor mu (e_scales e)) in *.
  assert (Y0 : (0 <= y)%Q) by apply larger_of_l.
  assert (Y1 : (b <= y * fst (e_factor e) + fst (e_shift e))%Q).
  { pose proof (@larger_of_r 0%Q ((b - fst (e_shift e)) / fst (e_factor e))%Q) as Q1. fold y in Q1.
    apply (Qmult_le_compat_r _ _ (fst (e_factor e))) in Q1; [| now apply Qlt_le_weak]. rewrite div_times in Q1 by assumption. lra. }
  apply (@ofQ_le F) in Y1. rewrite ofQ_add, ofQ_mul in Y1. apply le_trans with (1 := Y1). apply le_add2; [| assumption]. apply (@ofQ_ge0 F) in Y0.
  apply le_by with (ofQ y * (f - ofQ (fst (e_factor e))) + f * (w - ofQ y)); [ring |].
  apply add_ge0; apply le_mul; auto; try (now apply sub_ge0). now apply lt_le.
Qed.

(** Theorem 3 of docs/theory/leakage.md. *)
Theorem node_infinite : forall v, node_lower nodes v = Some Infinite -> unbounded (fun k => value k (rows v)).
Proof.
  assert (A : forall m v, (Pos.to_nat v < m)%nat -> node_lower nodes v = Some Infinite -> unbounded (fun k => value k (rows v))).
  2: { intros v. apply (A (S (Pos.to_nat v))). lia. }
  induction m as [| m IH]; intros v Hm H; [lia |]. unfold node_lower in H. destruct (PositiveMap.find v nodes) as [n |] eqn:E; [| easy].
  pose proof (node_checked E) as Ck. unfold check_leak_node in Ck. rewrite !andb_true_iff, H in Ck. destruct Ck as [_ [_ Ck]].
  assert (Rv : rows v = rows_at width (l_columns n)) by (unfold node_rows; now rewrite E).
  unfold check_infinite in Ck. destruct (l_grows n) as [[z h] |] eqn:G.
  - intro b. pose proof (growth_checked E G) as Cg. unfold check_growth in Cg. rewrite !andb_true_iff in Cg. destruct Cg as [[H0 _] _]. apply Qltb_lt in H0.
    destruct (some_rounds (b - z) H0) as [k J]. exists k. eapply leq_trans; [| apply (growth_holds k E G)]. apply ofQ_le. lra.
  - pose proof (seen_ok (node_fine v)) as Se. rewrite <- Rv in Ck. destruct (bounds K (totals (rows v))) as [x |]; [| intro b; exists O; rewrite Se; exact I].
    destruct (edges_of C K width nodes n) as [es |] eqn:Es; [| easy]. destruct (node_follows E Es) as [Ok V].
    apply existsb_exists in Ck. destruct Ck as (e & Ie & Ck). rewrite !andb_true_iff in Ck. destruct Ck as [[Lt Fp] Lo]. apply Pos.ltb_lt in Lt. apply Qltb_lt in Fp.
    destruct (node_lower nodes (e_child e)) as [[y |] |] eqn:Ln; try easy. set (M := images C (rows_at width (l_columns n))) in *.
    assert (U : unbounded (fun k => esum (map (fun e => value k (map (of_label C (e_label e)) M)) es))).
    { apply (@sum_unbounded edge (fun e k => value k (map (of_label C (e_label e)) M)) es e Ie).
      - apply edge_unbounded; [apply (Ok e Ie) | assumption |]. apply IH; [lia | assumption].
      - intros d Id. apply fine_bounded_below. apply (Ok d Id). }
    intro b. destruct (U b) as [k B]. exists (S k). rewrite V. exact B.
Qed.

(** *** Rows that claims start from *)
Lemma two_add (f g : nat -> option F) : unbounded f -> bounded_below g -> unbounded (fun k => plus (f k) (g k)).
Proof. intros U [m M] b. destruct (U (b - m)%Q) as [k B]. exists k. eapply leq_trans; [| apply (plus_leq B (M k))].
  unfold plus, leq. rewrite <- ofQ_add. apply ofQ_le. lra. Qed.

Lemma below_ok D nodes_at l : fine C mu D -> reaches (below C K width nodes D nodes_at l) (fun k => value k (map (of_label C l) D)).
Proof.
  intro Fi. assert (Fl : fine C mu (map (of_label C l) D)) by now apply of_label_fine. pose proof (seen_ok Fl) as Se.
  unfold below. destruct (bounds K (totals (map (of_label C l) D))) as [seen |]; [| intro b; exists O; rewrite Se; exact I].
  destruct Se as (x & Sx & [Lx _]).
  assert (Seen : forall r, (0 < r)%Q -> exists k, leq (Some (ofQ (fst seen - r))) (value k (map (of_label C l) D))).
  { intros r Hr. exists O. rewrite Sx. apply le_trans with (2 := Lx). apply ofQ_le. lra. }
  destruct (find _ nodes_at) as [t |] eqn:Fd; [| exact Seen]. apply find_some in Fd. destruct Fd as [_ Fd]. apply Pos.eqb_eq in Fd.
  cbv zeta. destruct (check_edge C K width nodes D (edge_to C K width nodes D t)) eqn:Ck; [| exact Seen].
  assert (Ok : edge_ok D (edge_to C K width nodes D t)).
  { apply edge_to_ok; [| assumption]. apply fine_as_fine. rewrite Fd. assumption. }
  set (e := edge_to C K width nodes D t) in *. destruct (node_lower nodes (snd t)) as [[z |] |] eqn:Lo; [| | exact Seen].
  - unfold larger_of. destruct (Qle_bool _ _); [| exact Seen]. intros r Hr. assert (Fc : finite_lower nodes (snd t) = Some z) by (unfold finite_lower; now rewrite Lo).
    pose proof Ok as (X & _ & Bf & _ & _). pose proof (factor_gt0 mu_ok X) as P.
    assert (W : (0 <= snd (e_factor e))%Q) by apply (factor_ge0 Ok).
    set (d := (r / (1 + snd (e_factor e)))%Q). assert (D0 : (0 < d)%Q) by (unfold d; apply Qlt_shift_div_l; lra).
    destruct (@node_bounds_from_below (snd t)) with (r := d) as [k H]; [now exists z | assumption |]. exists k. unfold holds, low in H. rewrite Fc in H.
    pose proof (@edge_below D e k z (- d)%Q (- d * snd (e_factor e))%Q Ok) as B. change (e_child e) with (snd t) in B. change (e_label e) with (fst t) in B. rewrite Fd in B.
    eapply leq_trans; [| apply B; [exact H |]].
    + apply ofQ_le. rewrite Qred_correct. assert (Dr : (d * (1 + snd (e_factor e)) == r)%Q) by (unfold d; field; intro N; lra).
      assert (0 <= d * snd (e_factor e))%Q by (apply Qmult_le_0_compat; [now apply Qlt_le_weak | assumption]). lra.
    + intros f Fp [_ Fb]. rewrite ofQ_mul, ofQ_opp. pose proof (ofQ_ge0 F (Qlt_le_weak _ _ D0)) as Df.
      apply le_by with (ofQ d * (ofQ (snd (e_factor e)) - f)); [ring |]. apply le_mul; [assumption | now apply sub_ge0].
  - destruct (Qltb 0 (fst (e_factor e))) eqn:Fp; [| exact Seen]. apply Qltb_lt in Fp. intro b.
    destruct (@edge_unbounded D e) with (b := b) as [k B]; [assumption | assumption | now apply node_infinite |]. exists k. change (e_label e) with (fst t) in B.
    now rewrite Fd in B.
Qed.

Lemma all_below_ok D nodes_at ls : fine C mu D ->
  reaches (all_below (map (below C K width nodes D nodes_at) ls)) (fun k => esum (map (fun l => value k (map (of_label C l) D)) ls)).
Proof.
  intro Fi. assert (Fl : forall l, fine C mu (map (of_label C l) D)) by (intro; now apply of_label_fine).
  induction ls as [| l ls IH]; cbn [map all_below esum].
  - intros r Hr. exists O. apply le_trans with (ofQ 0); [apply ofQ_le; lra | rewrite ofQ_0; apply le_refl].
  - pose proof (@below_ok D nodes_at l Fi) as B. assert (Bl : bounded_below (fun k => value k (map (of_label C l) D))) by apply fine_bounded_below, fine_as_fine, Fl.
    assert (Bs : bounded_below (fun k => esum (map (fun l => value k (map (of_label C l) D)) ls))).
    { apply (sum_bounded_below (f := fun l k => value k (map (of_label C l) D))). intros; apply fine_bounded_below, fine_as_fine, Fl. }
    destruct (below C K width nodes D nodes_at l) as [z |]; [destruct (all_below _) as [y |] |].
    + intros r Hr. destruct (B (r * (1 # 2))%Q) as [k1 B1]; [lra |]. destruct (IH (r * (1 # 2))%Q) as [k2 B2]; [lra |]. exists (Nat.max k1 k2).
      assert (A1 : leq (Some (ofQ (z - r * (1 # 2)))) (value (Nat.max k1 k2) (map (of_label C l) D))).
      { eapply leq_trans; [exact B1 |]. apply (value_mono C_ok mu_ok (Fl l)). lia. }
      assert (A2 : leq (Some (ofQ (y - r * (1 # 2)))) (esum (map (fun l => value (Nat.max k1 k2) (map (of_label C l) D)) ls))).
      { eapply leq_trans; [exact B2 |]. apply esum_le. intros l' _. apply (value_mono C_ok mu_ok (Fl l')). lia. }
      eapply leq_trans; [| apply (plus_leq A1 A2)]. unfold plus, leq. rewrite <- ofQ_add. apply ofQ_le. rewrite Qred_correct. lra.
    + intro b. destruct (two_add IH Bl b) as [k H]. exists k. now rewrite plus_comm.
    + exact (two_add B Bs).
Qed.

Lemma esum_part (l m : list positive) (f : positive -> option F) : NoDup l -> NoDup m -> (forall x, In x l -> In x m) -> (forall x, In x m -> ~ In x l -> f x = Some 0) ->
  esum (map f m) = esum (map f l).
Proof.
  intros Nl Nm I Z. transitivity (esum (map (fun x => esum (map (fun b => if Pos.eqb x b then f x else Some 0) l)) m)).
  - apply esum_ext. intros x Ix. destruct (in_dec Pos.eq_dec x l) as [J | J]; [symmetry; now apply esum_once |].
    rewrite (Z x Ix J). symmetry. apply esum_zero. intros b _. now destruct (Pos.eqb x b).
  - rewrite esum_swap. apply esum_ext. intros b Ib. transitivity (esum (map (fun x => if Pos.eqb b x then f b else Some 0) m)); [| apply esum_once; auto].
    apply esum_ext. intros x _. rewrite Pos.eqb_sym. destruct (Pos.eqb_spec b x) as [-> |]; reflexivity.
Qed.

Lemma all_labels_of D k : known C D -> esum (map (fun l => value k (map (of_label C l) D)) L) = esum (map (fun l => value k (map (of_label C l) D)) (labels_in C D)).
Proof.
  intro Kn. apply esum_part; [apply NoDup_nodup | apply NoDup_nodup | |].
  - intros l I. apply nodup_In, in_map_iff in I; destruct I as ([s q] & <- & I). apply in_concat in I. destruct I as (r & Ir & I).
    apply (label_once (Kn r Ir s q I)).
  - intros l _ N. apply of_nothing; [assumption |]. intro J. apply N. now apply nodup_In.
Qed.

Lemma start_above D nodes_at y k : fine C mu D ->
  let es := map (edge_to C K width nodes D) nodes_at in check_split C K width nodes D nodes_at es = true -> weighed snd (node_upper nodes) es = Some y ->
  leq (esum (map (fun l => value k (map (of_label C l) D)) L)) (Some (ofQ y)).
Proof.
  intros Fi es Sp W. destruct (@split_value D nodes_at) as [Ok V]; [apply Fi | intro l; now apply fine_as_fine, of_label_fine | exact Sp |].
  rewrite V. apply (weighed_above (k := k) (fun e I => proj1 (Ok e I)) W). intros e u _ U. now apply node_bounds_from_above.
Qed.
End Soundness.
