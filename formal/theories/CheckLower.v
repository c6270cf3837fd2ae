(** * The checker of lower tables (rules L1 to L7), proved

    Rules that the proof needs are checked in the form in which it needs them; the others (which states a witness
    names, how it refers from state to state) only decide what is accepted. *)

From Coq Require Import ZArith QArith List Bool FMapPositive Lia.
From Bisimdist Require Import OrderedField Combination Chain Lower LowerTable Extension Tables CheckChain CheckUpper.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Inductive spec := Number (q : Q) | Above (y : positive) | Below (y : positive).

Inductive reason :=
  | Stuck (i : positive)
  | CommonTo (i : positive)
  | Weights (of_class : list (positive * Q)) (of_state : list (positive * Q)).

Record written_entry := {
  w_pair : positive * positive;
  w_value : Q;
  w_witness : list (positive * spec);
  w_standing : option (nat * reason)
}.

Section Check.
Variable C : chain.
Variable alpha : Q.
Variable both : bool.
Variable k : positive -> positive.
Variable known : positive -> bool.
Variable written : list written_entry.

Definition lower_listed : table (table Q) :=
  build2 (flat_map (fun e => map (fun p => (p, w_value e)) (both_orders both (w_pair e))) written).

Definition lower_at (listed : table (table Q)) (i j : positive) : Q :=
  if Pos.eqb i j then 0%Q
  else if Pos.eqb (k i) (k j) then match find2 listed i j with Some v => v | None => 0%Q end
  else 1%Q.

(** Whether L(i, j) <= L(i, l) + alpha L(l, j) throughout: then every witness extends. *)
Definition no_shortcuts (L : positive -> positive -> Q) (members : list positive) : bool :=
  forallb (fun i => forallb (fun j => let direct := L i j in
    if Qeqb direct 0 then true
    else forallb (fun l => Qleb direct (L i l + alpha * L l j)) members) members) members.

Definition class_members (c : positive) := filter (fun s => Pos.eqb (k s) c) (states C).

Section Entry.
Variable L : positive -> positive -> Q.
Variable smooth : positive -> bool.  (* by class: whether it has no shortcuts *)

(** ** The witness, resolved (rule L2) *)
Fixpoint resolve (fuel : nat) (specs : table spec) (done : table Q) (x : positive) : option (Q * table Q) :=
  match PositiveMap.find x done with
  | Some v => Some (v, done)
  | None =>
    match fuel, PositiveMap.find x specs with
    | S fuel', Some sp =>
      match sp with
      | Number q => Some (q, PositiveMap.add x q done)
      | Above y => match resolve fuel' specs done y with
        | Some (v, done') => let f := Qred (alpha * v + L x y) in Some (f, PositiveMap.add x f done')
        | None => None
        end
      | Below y => match resolve fuel' specs done y with
        | Some (v, done') => let f := Qred ((v - L y x) / alpha) in Some (f, PositiveMap.add x f done')
        | None => None
        end
      end
    | _, _ => None
    end
  end.

Definition resolved (w : list (positive * spec)) : option (table Q) :=
  let specs := build w in
  let fuel := S (length w) in
  fold_left (fun acc e => match acc with
    | Some done => match resolve fuel specs done (fst e) with Some (_, done') => Some done' | None => None end
    | None => None
    end) w (Some (PositiveMap.empty Q)).

(** ** The least extension to a class (rule L5), grown from its largest values *)
Fixpoint take_largest (x : positive) (q : Q) (rest : list (positive * Q)) (l : list (positive * Q)) :=
  match l with
  | [] => ((x, q), rest)
  | (y, p) :: l' => if Qltb q p then take_largest y p ((x, q) :: rest) l' else take_largest x q ((y, p) :: rest) l'
  end.

Definition grow (named : positive -> bool) (x : positive) (q : Q) (e : positive * Q) : positive * Q :=
  if named (fst e) then e
  else let new := Qred ((q - L x (fst e)) / alpha) in
       if Qltb (snd e) new then (fst e, new) else e.

Fixpoint extend (fuel : nat) (named : positive -> bool) (waiting done : list (positive * Q)) : list (positive * Q) :=
  match fuel, waiting with
  | S fuel', (x, q) :: l =>
      let '((x', q'), rest) := take_largest x q [] l in
      extend fuel' named (map (grow named x' q') rest) ((x', q') :: done)
  | _, _ => done
  end.

Definition extended (named : positive -> bool) (f : table Q) (touched : list positive) : table Q :=
  build (flat_map (fun c =>
    let members := class_members c in
    extend (length members) named (map (fun s => (s, find_or 0%Q f s)) members) []) touched).

(** The potential on all states: the witness, where alpha = 1, and its extension otherwise. *)
Definition full_potential (f : table Q) (touched : list positive) : positive -> Q :=
  if Qltb 1 alpha
  then let named x := match PositiveMap.find x f with Some _ => true | None => false end in
       find_or 0%Q (extended named f touched)
  else find_or 0%Q f.

Definition is_positive_at (c : list (positive * Q)) (i : positive) := existsb (fun e => Pos.eqb (fst e) i && Qltb 0 (snd e)) c.
Definition is_negative_at (c : list (positive * Q)) (i : positive) := existsb (fun e => Pos.eqb (fst e) i && Qltb (snd e) 0) c.

(** L4 and L5: for alpha > 1 everywhere in the classes that are touched (elsewhere f = 0), for alpha = 1 from sources to sinks. *)
Definition check_potential (c : list (positive * Q)) (f : positive -> Q) (touched : list positive) : bool :=
  if Qltb 1 alpha then
    forallb (fun s => if Qeqb (f s) 0 then true else existsb (Pos.eqb (k s)) touched) (states C) &&
    forallb (fun cl => let members := class_members cl in
      forallb (fun x => forallb (fun y => Qleb (f x - alpha * f y) (L x y)) members) members) touched
  else
    forallb (fun x => if Qltb 0 (snd x) then
      forallb (fun y => if Qltb (snd y) 0 then Qleb (f (fst x) - alpha * f (fst y)) (L (fst x) (fst y)) else true) c
      else true) c.

Definition check_direct (c : list (positive * Q)) : bool :=
  if Qltb 1 alpha then true
  else forallb (fun x => if Qltb 0 (snd x) then negb (is_negative_at c (fst x)) else true) c && Qleb (-(1)) (negative_part c).

(** What the rules ask of the witness beyond what the proof needs: L3, and that the named states alone prove the value. *)
Definition check_named (c : list (positive * Q)) (f : table Q) (touched : list positive) (v : Q) (strict : bool) : bool :=
  let proved := evalQ c (find_or 0%Q f) in
  forallb (fun e => if Qltb (snd e) 0 && existsb (Pos.eqb (k (fst e))) touched
    then match PositiveMap.find (fst e) f with Some _ => true | None => false end else true) c &&
  (if strict then Qltb v proved else Qleb v proved).

Definition weight (of_class of_state : list (positive * Q)) : positive -> Q :=
  let classes := build (map (fun e => (k (fst e), snd e)) of_class) in
  let single := build of_state in
  fun s => match PositiveMap.find s single with Some v => v | None => find_or 0%Q classes (k s) end.

Definition turn_of (c : list (positive * Q)) (r : reason) : progress :=
  match r with
  | Stuck i => Turn (fun s => if Pos.eqb s i then if is_negative_at c i then -(1) else 1 else 0)%Q
  | CommonTo _ => Common
  | Weights of_class of_state => Turn (weight of_class of_state)
  end.

Definition is_smooth (touched : list positive) : bool := Qltb 1 alpha && forallb smooth touched.

Definition names_of (e : written_entry) : list positive := map fst (w_witness e).
Definition touched_by (e : written_entry) : list positive := distinct (map k (names_of e)).
Definition named_values (e : written_entry) (f : table Q) : table Q :=
  build (map (fun x => (x, find_or 0%Q f x)) (names_of e)).
Definition has (f : table Q) (x : positive) : bool := match PositiveMap.find x f with Some _ => true | None => false end.

(** The potential of an entry: on paper only where the class has no shortcuts. *)
Definition potential_of (e : written_entry) (f : table Q) : positive -> Q :=
  if is_smooth (touched_by e)
  then let f' := named_values e f in extension alpha L (names_of e) (has f') (find_or 0%Q f')
  else full_potential f (touched_by e).

Definition entry_of (e : written_entry) : option lower_entry :=
  match resolved (w_witness e) with
  | None => None
  | Some f =>
      let c := norm (difference C alpha (fst (w_pair e)) (snd (w_pair e))) in
      Some {| first := fst (w_pair e); second := snd (w_pair e); bound := w_value e;
              potential := potential_of e f;
              standing := match w_standing e with Some (r, why) => Some (r, turn_of c why) | None => None end |}
  end.

(** Pairs of ranked entries with their values (in lowest terms) and ranks. *)
Definition ranked : list (Q * (nat * (positive * positive))) :=
  flat_map (fun e => match w_standing e with
    | Some (r, _) => map (fun p => (Qred (w_value e), (r, p))) (both_orders both (w_pair e))
    | None => [] end) written.

Definition same (p q : Q) := Z.eqb (Qnum p) (Qnum q) && Pos.eqb (Qden p) (Qden q).

Definition rivals (ranks : list (Q * (nat * (positive * positive)))) (v : Q) (r : nat) : list (positive * positive) :=
  let v' := Qred v in
  map (fun x => snd (snd x)) (filter (fun x => same (fst x) v' && Nat.leb r (fst (snd x))) ranks).

Definition is_constrained (c : list (positive * Q)) (i j : positive) : bool :=
  if Qltb 1 alpha then true else is_positive_at c i && is_negative_at c j.

Definition check_turn (c : list (positive * Q)) (rs : list (positive * positive)) (y : positive -> Q) : bool :=
  Qltb 0 (evalQ c y) &&
  forallb (fun p => if Qleb (y (fst p)) (alpha * y (snd p)) then true else negb (is_constrained c (fst p) (snd p))) rs.

Definition check_reason (c : list (positive * Q)) (rs : list (positive * positive)) (p : positive * positive) (why : reason) : bool :=
  match why with
  | Stuck i => known i && existsb (fun e => Pos.eqb (fst e) i) c &&
      negb (existsb (fun q => Pos.eqb (fst q) i || Pos.eqb (snd q) i) rs)
  | CommonTo i => Qeqb alpha 1 && existsb (fun e => Pos.eqb (fst e) i) (row C (fst p)) &&
      existsb (fun e => Pos.eqb (fst e) i) (row C (snd p)) && Qltb (-(1)) (negative_part c)
  | Weights of_class of_state =>
      forallb (fun e => known (fst e) && Qleb 0 (snd e)) of_class && forallb (fun e => known (fst e)) of_state &&
      Nat.eqb (length (distinct (map (fun e => k (fst e)) of_class))) (length of_class)
  end.

(** L4 between named states of one class. *)
Definition check_between (names : list positive) (f : positive -> Q) : bool :=
  forallb (fun x => Qleb 0 (f x) && Qleb (f x) 1 && known x &&
    forallb (fun y => if Pos.eqb (k x) (k y) then Qleb (f x - alpha * f y) (L x y) else true) names) names.

Definition check_lower_entry (ranks : list (Q * (nat * (positive * positive)))) (e : written_entry) : bool :=
  let (s, t) := w_pair e in
  known s && known t && negb (Pos.eqb s t) && Pos.eqb (k s) (k t) && Qltb 0 (w_value e) && Qleb (w_value e) 1 &&
  forallb (fun p => Qeqb (L (fst p) (snd p)) (w_value e)) (both_orders both (w_pair e)) &&
  forallb (fun x => known (fst x)) (w_witness e) &&
  match resolved (w_witness e) with
  | None => false
  | Some f =>
      let c := norm (difference C alpha s t) in
      let touched := touched_by e in
      let strict := match w_standing e with None => true | Some _ => false end in
      (if is_smooth touched
       then let f' := named_values e f in
         check_named c f' touched (w_value e) strict && check_between (names_of e) (find_or 0%Q f')
       else let g := full_potential f touched in
         check_named c f touched (w_value e) strict &&
         forallb (fun x => Qleb 0 (g x) && Qleb (g x) 1) (states C) &&
         check_potential c g touched && check_direct c &&
         (if strict then Qltb (w_value e) (evalQ c g) else Qleb (w_value e) (evalQ c g))) &&
      match w_standing e with
      | None => true
      | Some (r, why) =>
          let rs := rivals ranks (w_value e) r in
          check_reason c rs (w_pair e) why &&
          match turn_of c why with Common => true | Turn y => check_turn c rs y end
      end
  end.


Definition lower_entries : list lower_entry :=
  flat_map (fun e => match entry_of e with Some x => [x] | None => [] end) written.
End Entry.

(** By class that some witness touches, whether it has no shortcuts. *)
Definition smooth_classes (L : positive -> positive -> Q) : table bool :=
  if Qltb 1 alpha
  then build (map (fun c => (c, no_shortcuts L (class_members c))) (distinct (map k (flat_map names_of written))))
  else PositiveMap.empty bool.

Definition smooth_at (L : positive -> positive -> Q) : positive -> bool := let found := smooth_classes L in find_or false found.

Definition check_lower_table (L : positive -> positive -> Q) : bool :=
  no_pair_twice (PositiveMap.empty _) (flat_map (fun e => both_orders both (w_pair e)) written) &&
  (let ranks := ranked in let smooth := smooth_at L in forallb (check_lower_entry L smooth ranks) written).

Hypothesis known_ok : forall s, known s = true -> In s (states C).
Hypothesis alpha_ge1 : (1 <= alpha)%Q.
Hypothesis C_ok : chain_ok C.

Let L := lower_at lower_listed.

Lemma L_ge0 i j : forallb (check_lower_entry L (smooth_at L) ranked) written = true -> (0 <= L i j)%Q.
Proof.
  rewrite forallb_forall; intro H; unfold L, lower_at. destruct (Pos.eqb i j); [apply Qle_refl |].
  destruct (Pos.eqb (k i) (k j)); [| easy]. destruct (find2 lower_listed i j) as [v |] eqn:E; [| apply Qle_refl].
  apply build2_found, in_flat_map in E; destruct E as (e & I & J). apply in_map_iff in J; destruct J as (p & J & _).
  injection J as _ <-. specialize (H e I); unfold check_lower_entry in H. destruct (w_pair e).
  rewrite !andb_true_iff, !Qltb_lt in H. now apply Qlt_le_weak. Qed.

Lemma sink_in c i : (exists q, In (i, q) c /\ (q < 0)%Q) <-> is_negative_at c i = true.
Proof. unfold is_negative_at; rewrite existsb_exists; split.
  - intros (q & I & N); exists (i, q); split; [assumption |]; simpl. rewrite Pos.eqb_refl; now apply Qltb_lt.
  - intros ([j q] & I & N); simpl in N; rewrite andb_true_iff, Qltb_lt in N; destruct N as [E N].
    apply Pos.eqb_eq in E; subst; eauto. Qed.

Lemma source_in c i : (exists q, In (i, q) c /\ (0 < q)%Q) <-> is_positive_at c i = true.
Proof. unfold is_positive_at; rewrite existsb_exists; split.
  - intros (q & I & N); exists (i, q); split; [assumption |]; simpl. rewrite Pos.eqb_refl; now apply Qltb_lt.
  - intros ([j q] & I & N); simpl in N; rewrite andb_true_iff, Qltb_lt in N; destruct N as [E N].
    apply Pos.eqb_eq in E; subst; eauto. Qed.

Lemma L_across i j : k i <> k j -> (L i j == 1)%Q.
Proof. intro N; unfold L, lower_at. destruct (Pos.eqb i j) eqn:E; [apply Pos.eqb_eq in E; congruence |].
  apply Pos.eqb_neq in N; rewrite N; reflexivity. Qed.

(** Where no class that it touches has shortcuts, a witness proves what it says, and extends. *)
Lemma smooth_witness e f c v strict : (forall i j, (0 <= L i j)%Q) ->
  (forall s q, In (s, q) c -> In s (states C)) ->
  is_smooth (smooth_at L) (touched_by e) = true ->
  check_named c (named_values e f) (touched_by e) v strict = true ->
  check_between L (names_of e) (find_or 0%Q (named_values e f)) = true ->
  let g := extension alpha L (names_of e) (has (named_values e f)) (find_or 0%Q (named_values e f)) in
  (1 < alpha)%Q /\ (forall i, 0 <= g i <= 1)%Q /\
  (forall i j, In i (states C) -> In j (states C) -> g i - alpha * g j <= L i j)%Q /\
  (if strict then (v < evalQ c g)%Q else (v <= evalQ c g)%Q).
Proof.
  intros L0 Hc Sm Nm Bt g. set (f' := named_values e f) in *. set (names := names_of e) in *.
  unfold is_smooth in Sm; rewrite andb_true_iff, forallb_forall, Qltb_lt in Sm; destruct Sm as [A Sm].
  unfold check_between in Bt; rewrite forallb_forall in Bt.
  assert (Has : forall s, has f' s = true <-> In s names).
  { intro s; unfold has, f', named_values; split.
    - destruct (PositiveMap.find s _) as [q |] eqn:E; [intros _ | easy]. apply build_found, in_map_iff in E.
      destruct E as (x & E & I); injection E as -> _; exact I.
    - intro I. destruct (PositiveMap.find s _) eqn:E; [reflexivity |].
      exfalso; apply (@build_complete Q (map (fun x => (x, find_or 0%Q f x)) (names_of e)) s); [| exact E].
      rewrite map_map; simpl; now rewrite map_id. }
  assert (Fb : forall x, In x names -> (0 <= find_or 0%Q f' x <= 1)%Q).
  { intros x I; specialize (Bt x I); rewrite !andb_true_iff in Bt; destruct Bt as [[[B0 B1] _] _];
      split; now apply Qle_bool_iff. }
  assert (Fn : forall x y, In x names -> In y names -> k x = k y -> (find_or 0 f' x - alpha * find_or 0 f' y <= L x y)%Q).
  { intros x y I J E; specialize (Bt x I); rewrite !andb_true_iff, forallb_forall in Bt; destruct Bt as [_ Bt].
    specialize (Bt y J). rewrite (proj2 (Pos.eqb_eq _ _) E) in Bt. now apply Qle_bool_iff. }
  assert (In_states : forall x, In x names -> In x (states C)).
  { intros x I; specialize (Bt x I); rewrite !andb_true_iff in Bt; destruct Bt as [[_ Kx] _]; now apply known_ok. }
  assert (Touched : forall x, In x names -> In (k x) (touched_by e)).
  { intros x I; apply distinct_in, in_map_iff; now exists x. }
  assert (Sc : forall x i j l, In x names -> In i (states C) -> In j (states C) -> In l (states C) ->
    k i = k x -> k j = k x -> k l = k x -> (L i j <= L i l + alpha * L l j)%Q).
  { intros x i j l I Hi Hj Hl Ei Ej El. specialize (Sm (k x) (Touched x I)). unfold smooth_at, smooth_classes in Sm.
    apply Qltb_lt in A; rewrite A in Sm. unfold find_or in Sm. destruct (PositiveMap.find (k x) _) as [b |] eqn:E; [subst b | easy].
    apply build_found, in_map_iff in E; destruct E as (cl & E & _). injection E as -> E.
    unfold no_shortcuts in E; rewrite forallb_forall in E.
    assert (Mem : forall s, In s (states C) -> k s = k x -> In s (class_members (k x)))
      by (intros s Hs Es; apply filter_In; split; [assumption | now apply Pos.eqb_eq]).
    specialize (E i (Mem i Hi Ei)); rewrite forallb_forall in E. specialize (E j (Mem j Hj Ej)); cbv zeta in E.
    destruct (Qeqb (L i j) 0) eqn:Z.
    - apply Qeq_bool_iff in Z. rewrite Z. apply (Qplus_le_compat 0 _ 0); [apply L0 |].
      apply Qmult_le_0_compat; [apply Qle_trans with 1%Q; [easy | assumption] | apply L0].
    - rewrite forallb_forall in E. specialize (E l (Mem l Hl El)). now apply Qle_bool_iff. }
  assert (Bounds : forall i, (0 <= g i <= 1)%Q).
  { intro i; apply (extension_bounds alpha_ge1 Has L0 Fb). }
  split; [assumption | split; [assumption | split]].
  - intros i j Hi Hj. now apply (extension_ok alpha_ge1 Has L0 L_across Fb Fn In_states Sc).
  - unfold check_named in Nm; rewrite andb_true_iff, forallb_forall in Nm; destruct Nm as [L3 Val].
    assert (M : (evalQ c (find_or 0 f') <= evalQ c g)%Q).
    { apply evalQ_le; intros s q I. unfold g, extension. destruct (has f' s) eqn:Hs; [apply Qle_refl |].
      assert (Z : find_or 0 f' s = 0%Q) by (unfold has in Hs; unfold find_or; now destruct (PositiveMap.find s f')).
      rewrite Z, Qmult_0_r. specialize (L3 _ I); simpl in L3.
      destruct (Qltb q 0) eqn:Q0; simpl in L3.
      - unfold has in Hs. destruct (PositiveMap.find s f') eqn:Fs; [easy |].
        destruct (existsb (Pos.eqb (k s)) (touched_by e)) eqn:Tc; [easy |].
        assert (Zero : (extension alpha L names (has f') (find_or 0%Q f') s == 0)%Q).
        { apply (extension_zero alpha_ge1 L_across Fb); [unfold has; now rewrite Fs |].
          intros x Ix Ex. rewrite <- not_true_iff_false in Tc; apply Tc, existsb_exists.
          exists (k x); split; [now apply Touched | apply Pos.eqb_eq; congruence]. }
        unfold extension, has in Zero; rewrite Fs in Zero. rewrite Zero, Qmult_0_r; apply Qle_refl.
      - specialize (Bounds s). unfold g, extension in Bounds; rewrite Hs in Bounds.
        apply Qmult_le_0_compat; [| apply Bounds].
        apply Qnot_lt_le; intro N; apply Qltb_lt in N; congruence. }
    destruct strict; [apply Qlt_le_trans with (2 := M); now apply Qltb_lt | apply Qle_trans with (2 := M); now apply Qle_bool_iff].
Qed.

(** What is checked of a witness is what the rules ask of the potential. *)
Lemma witness_ok e f c : (forall i j, (0 <= L i j)%Q) -> (forall s q, In (s, q) c -> In s (states C)) ->
  let strict := match w_standing e with None => true | Some _ => false end in
  (if is_smooth (smooth_at L) (touched_by e)
   then let f' := named_values e f in
     check_named c f' (touched_by e) (w_value e) strict && check_between L (names_of e) (find_or 0%Q f')
   else let g := full_potential L f (touched_by e) in
     check_named c f (touched_by e) (w_value e) strict &&
     forallb (fun x => Qleb 0 (g x) && Qleb (g x) 1) (states C) &&
     check_potential L c g (touched_by e) && check_direct c &&
     (if strict then Qltb (w_value e) (evalQ c g) else Qleb (w_value e) (evalQ c g))) = true ->
  let g := potential_of L (smooth_at L) e f in
  (forall i, In i (states C) -> 0 <= g i <= 1)%Q /\
  (forall i j, In i (states C) -> In j (states C) ->
     ((1 < alpha)%Q \/ ((exists p, In (i, p) c /\ (0 < p)%Q) /\ (exists q, In (j, q) c /\ (q < 0)%Q))) ->
     (g i - alpha * g j <= L i j)%Q) /\
  (match w_standing e with None => (w_value e < evalQ c g)%Q | Some _ => (w_value e <= evalQ c g)%Q end) /\
  check_direct c = true.
Proof.
  intros Lpos Hc strict H. unfold potential_of.
  assert (Case : (Qltb 1 alpha = true /\ (1 < alpha)%Q) \/ (Qltb 1 alpha = false /\ (alpha == 1)%Q)).
  { destruct (Qltb 1 alpha) eqn:B; [left; split; [reflexivity | now apply Qltb_lt] | right; split; [reflexivity |]].
    apply Qle_antisym; [| assumption]. apply Qnot_lt_le; intro N; apply Qltb_lt in N; congruence. }
  destruct (is_smooth (smooth_at L) (touched_by e)) eqn:Sm; cbv zeta in *.
  - rewrite andb_true_iff in H; destruct H as [Nm Bt].
    destruct (smooth_witness Lpos Hc Sm Nm Bt) as (A & GB & Pot & Val).
    split; [auto | split; [auto | split]].
    + unfold strict in Val. destruct (w_standing e); exact Val.
    + unfold check_direct. apply Qltb_lt in A; now rewrite A.
  - set (touched := touched_by e) in *. set (g := full_potential L f touched) in *.
    rewrite !andb_true_iff in H. destruct H as [[[[_ G] Pot] Dir] Val]. rewrite forallb_forall in G.
    assert (GB : forall i, In i (states C) -> (0 <= g i <= 1)%Q).
    { intros i Hi; specialize (G i Hi); rewrite andb_true_iff in G; destruct G; split; now apply Qle_bool_iff. }
    split; [assumption | split; [| split; [| assumption]]].
    + intros i j Hi Hj O. unfold check_potential in Pot. destruct Case as [[B A] | [B A]]; rewrite B in Pot.
      * rewrite andb_true_iff, !forallb_forall in Pot; destruct Pot as [Zero Pot].
        destruct (Qeqb (g i) 0) eqn:Z.
        { apply Qeq_bool_iff in Z. rewrite Z. apply Qle_trans with 0%Q; [| apply Lpos].
          destruct (GB j Hj) as [Gj _].
          assert (0 <= alpha * g j)%Q by (apply Qmult_le_0_compat; [apply Qle_trans with 1%Q; [easy | assumption] | assumption]).
          unfold Qminus; rewrite Qplus_0_l. rewrite <- (Qopp_involutive 0). now apply Qopp_le_compat. }
        specialize (Zero i Hi); rewrite Z in Zero; apply existsb_in in Zero.
        destruct (Pos.eq_dec (k i) (k j)) as [Ek | Nk].
        { specialize (Pot _ Zero); rewrite forallb_forall in Pot. specialize (Pot i).
          assert (Mi : In i (class_members (k i))) by (apply filter_In; split; [assumption | apply Pos.eqb_refl]).
          assert (Mj : In j (class_members (k i))) by (apply filter_In; split; [assumption | rewrite Ek; apply Pos.eqb_refl]).
          specialize (Pot Mi); rewrite forallb_forall in Pot. apply Qle_bool_iff. now apply Pot. }
        { rewrite (L_across Nk). destruct (GB i Hi) as [_ G1], (GB j Hj) as [G0 _].
          assert (0 <= alpha * g j)%Q by (apply Qmult_le_0_compat; [apply Qle_trans with 1%Q; [easy | assumption] | assumption]).
          apply Qle_trans with (g i - 0)%Q; [| unfold Qminus; now rewrite Qplus_0_r].
          apply Qplus_le_compat; [apply Qle_refl | now apply Qopp_le_compat]. }
      * destruct O as [O | [Si Sj]]; [exfalso; rewrite A in O; now apply (Qlt_irrefl 1) |].
        destruct Si as (p & Ip & Pp), Sj as (q & Iq & Nq).
        rewrite forallb_forall in Pot. specialize (Pot _ Ip); simpl in Pot.
        apply Qltb_lt in Pp; rewrite Pp in Pot. rewrite forallb_forall in Pot. specialize (Pot _ Iq); simpl in Pot.
        apply Qltb_lt in Nq; rewrite Nq in Pot. now apply Qle_bool_iff.
    + unfold strict in Val. destruct (w_standing e); [now apply Qle_bool_iff | now apply Qltb_lt].
Qed.

Theorem check_lower_table_ok : check_lower_table L = true ->
  lower_rules C alpha both k L (lower_entries L (smooth_at L)).
Proof.
  unfold check_lower_table; rewrite andb_true_iff; intros [_ H].
  assert (Lpos : forall i j, (0 <= L i j)%Q) by (intros; now apply L_ge0).
  pose proof H as All; rewrite forallb_forall in All.
  assert (Found : forall e, In e written -> exists x, entry_of L (smooth_at L) e = Some x /\ In x (lower_entries L (smooth_at L))).
  { intros e I; specialize (All e I); unfold check_lower_entry in All; destruct (w_pair e).
    unfold entry_of, lower_entries. rewrite !andb_true_iff in All; destruct All as [_ R].
    destruct (resolved L (w_witness e)) as [f |] eqn:E; [| easy]. eexists; split; [reflexivity |].
    apply in_flat_map; exists e; split; [assumption |]. unfold entry_of; rewrite E; now left. }
  split.
  - intros x Ix; unfold lower_entries in Ix; apply in_flat_map in Ix; destruct Ix as (e & I & J).
    destruct (entry_of L (smooth_at L) e) as [x' |] eqn:E; [| easy]. destruct J as [-> | []].
    pose proof (All e I) as K. unfold entry_of in E. unfold check_lower_entry in K.
    destruct (w_pair e) as [s t] eqn:P. simpl in E.
    destruct (resolved L (w_witness e)) as [f |]; [| easy]. injection E as <-.
    set (c := norm (difference C alpha s t)) in *.
    rewrite !andb_true_iff, !Qltb_lt in K.
    destruct K as ((((((((Ks & Kt) & _) & _) & V0) & _) & Lv) & _) & (Wit & Why)).
    cbn [first second bound]. rewrite forallb_forall in Lv.
    split; [now apply known_ok | split; [now apply known_ok | split; [assumption | split]]].
    { intros i j J; unfold orders in J; cbn [first second] in J.
      apply Qeq_bool_iff. apply (Lv (i, j)). unfold both_orders, turned; simpl. exact J. }
    assert (Case : (Qltb 1 alpha = true /\ (1 < alpha)%Q) \/ (Qltb 1 alpha = false /\ (alpha == 1)%Q)).
    { destruct (Qltb 1 alpha) eqn:B; [left; split; [reflexivity | now apply Qltb_lt] | right; split; [reflexivity |]].
      apply Qle_antisym; [| assumption]. apply Qnot_lt_le; intro N; apply Qltb_lt in N; congruence. }
    assert (Hc : forall i q, In (i, q) c -> In i (states C)).
    { intros i q J. apply norm_keys in J; destruct J as [q' J]. apply known_ok in Ks, Kt.
      unfold difference in J; apply in_app_iff in J; destruct J as [J | J].
      - now apply (C_ok Ks) in J.
      - apply in_map_iff in J; destruct J as ([y p] & Ey & J); injection Ey as <- _. now apply (C_ok Kt) in J. }
    set (g := potential_of L (smooth_at L) e f).
    destruct (witness_ok Lpos Hc Wit) as (GB & Pot & Val & Dir). fold g in GB, Pot, Val.
    split; [| split].
    + unfold entry_witnessed, vector; cbn [first second bound potential]; fold c g. split; [assumption | split].
      * intros i j Hi Hj O. apply Pot; auto.
      * destruct (w_standing e); [assumption | now apply Qlt_le_weak].
    + intro A; unfold source, sink, vector; cbn [first second]; fold c. unfold check_direct in Dir.
      destruct Case as [[_ A'] | [B _]]; [exfalso; rewrite A in A'; now apply (Qlt_irrefl 1) |]. rewrite B in Dir.
      rewrite andb_true_iff, forallb_forall in Dir; destruct Dir as [Dis Neg]. split; [| now apply Qle_bool_iff].
      intros i (q & Iq & Pq) Sk. apply sink_in in Sk. specialize (Dis _ Iq); simpl in Dis.
      apply Qltb_lt in Pq; rewrite Pq, Sk in Dis; easy.
    + unfold entry_progresses, vector; cbn [first second bound potential standing]; fold c g.
      destruct (w_standing e) as [[r why] |] eqn:St; [| exact Val].
      rewrite andb_true_iff in Why; destruct Why as [Why T].
      destruct (turn_of c why) as [| y] eqn:Ty.
      * destruct why; try easy. simpl in Why. rewrite !andb_true_iff, Qltb_lt in Why.
        split; [now apply Qeq_bool_iff | now apply Why].
      * unfold check_turn in T; rewrite andb_true_iff, Qltb_lt, forallb_forall in T; destruct T as [T0 T].
        split; [assumption |]. intros x' r' p Ix' Sx Le Ev i j J O.
        unfold lower_entries in Ix'; apply in_flat_map in Ix'; destruct Ix' as (e' & I' & J').
        destruct (entry_of L (smooth_at L) e') as [x'' |] eqn:E'; [| easy]. destruct J' as [-> | []].
        unfold entry_of in E'. destruct (resolved L (w_witness e')) as [f' |]; [| easy]. injection E' as <-.
        cbn [standing bound] in Sx, Ev. unfold orders in J; cbn [first second] in J.
        assert (R : In (i, j) (rivals ranked (w_value e) r)).
        { destruct (w_standing e') as [[r'' why'] |] eqn:St'; [| easy]. injection Sx as -> _.
          unfold rivals. apply in_map_iff. exists (Qred (w_value e'), (r', (i, j))); split; [reflexivity |].
          apply filter_In; split.
          - unfold ranked; apply in_flat_map; exists e'; split; [assumption |]. rewrite St'. apply in_map_iff.
            exists (i, j); split; [reflexivity |]. unfold both_orders, turned. destruct (w_pair e'). exact J.
          - simpl. apply Qred_complete in Ev. rewrite Ev. unfold same; rewrite Z.eqb_refl, Pos.eqb_refl; simpl.
            now apply Nat.leb_le. }
        specialize (T _ R); simpl in T. destruct (Qleb (y i) (alpha * y j)) eqn:Y; [now apply Qle_bool_iff |].
        exfalso. rewrite negb_true_iff in T. unfold is_constrained in T.
        destruct Case as [[B _] | [B A]]; rewrite B in T; [easy |].
        destruct O as [O | [Si Sj]]; [rewrite A in O; now apply (Qlt_irrefl 1) |].
        unfold source, sink, vector in Si, Sj; cbn [first second] in Si, Sj; fold c in Si, Sj.
        apply source_in in Si; apply sink_in in Sj. rewrite Si, Sj in T; easy.
  - intros i j Hi Hj. unfold L, lower_at. destruct (Pos.eqb i j) eqn:Eij; [left; reflexivity |].
    destruct (Pos.eqb (k i) (k j)) eqn:Ek; [| right; left; split; [now apply Pos.eqb_neq | apply Qle_refl]].
    destruct (find2 lower_listed i j) as [v |] eqn:Fd; [| left; reflexivity].
    right; right. apply build2_found, in_flat_map in Fd; destruct Fd as (e & I & J).
    apply in_map_iff in J; destruct J as (p & J & K). injection J as -> <-.
    destruct (Found e I) as (x & E & Ix). exists x; split; [assumption |].
    unfold entry_of in E. destruct (resolved L (w_witness e)); [| easy]. injection E as <-.
    unfold orders; cbn [first second]. unfold both_orders, turned in K. destruct (w_pair e); exact K.
Qed.
End Check.
