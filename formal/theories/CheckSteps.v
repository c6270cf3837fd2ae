(** * Certificates with parts, proved: steps lead to simpler chains, and claims come back (docs/certificates/reduced.md)

    Certificates of distances may take steps quotient, those of delta steps cut, merge and quotient. *)

From Coq Require Import ZArith QArith List Bool FMapPositive Lia Lqa.
From Bisimdist Require Import OrderedField Combination Chain UpperTable Merging MergingDistances Steps
  Tables CheckChain CheckUpper CheckLower Check CheckDelta CheckDeltaClaims.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

(** ** States that stand for states that are alike (rules Q1 and Q2) *)
Definition quotient := (list (positive * positive) * model)%type.  (* which state stands for which; the model afterwards *)

Definition stand (classes : list (positive * positive)) : positive -> positive :=
  let found := build classes in fun s => find_or s found s.

Definition check_image (C M : chain) (f : positive -> positive) : bool :=
  let known := knows M in
  forallb (fun s => known (f s) && Pos.eqb (label C s) (label M (f s)) &&
    all_zero (push f (row C s) ++ scale (- (1)) (row M (f s)))) (states C).

Definition check_quotient (m : model) (q : quotient) : bool :=
  let C := chain_of m in
  let M := chain_of (snd q) in
  let rep := stand (fst q) in
  let known := knows C in
  check_chain (snd q) M && check_image C M rep && forallb (fun s => known s && Pos.eqb (rep s) s) (states M).

Lemma check_image_ok C M f : check_image C M f = true -> merged C M f.
Proof. unfold check_image; rewrite forallb_forall; intros H s Hs. specialize (H s Hs); rewrite !andb_true_iff in H.
  destruct H as [[K L] Z]. split; [now apply knows_ok | split; [now apply Pos.eqb_eq | assumption]]. Qed.

Lemma check_quotient_ok m q : check_quotient m q = true ->
  chain_ok (chain_of (snd q)) /\ merged (chain_of m) (chain_of (snd q)) (stand (fst q)) /\
  forall s, In s (states (chain_of (snd q))) -> In s (states (chain_of m)) /\ stand (fst q) s = s.
Proof. unfold check_quotient; rewrite !andb_true_iff, forallb_forall; intros [[Ok I] T].
  split; [now apply check_chain_ok in Ok | split; [now apply check_image_ok |]].
  intros s Hs. specialize (T s Hs). rewrite andb_true_iff in T; destruct T as [K E].
  split; [now apply knows_ok in K | now apply Pos.eqb_eq]. Qed.

(** ** Distances behind such steps (rule Q3) *)
Record distance_part := { q_steps : list quotient; q_proof : distance_certificate (* about the last model *) }.

Record distance_part_claim := {
  e_from : positive;
  e_to : positive;
  e_both : bool;
  e_alpha : Q;
  e_lower : option Q;
  e_upper : option Q
}.

Definition about (m : model) (c : distance_certificate) : distance_certificate :=
  {| d_model := m; d_alpha := d_alpha c; d_both := d_both c; d_upper := d_upper c; d_lower := d_lower c; d_claims := d_claims c |}.

Fixpoint check_distance_part (m : model) (l : list quotient) (c : distance_certificate) : bool :=
  match l with
  | [] => check_distance (about m c)
  | q :: l' => Qeqb (d_alpha c) 1 && check_quotient m q && check_distance_part (snd q) l' c
  end.

Fixpoint stands_at (l : list quotient) (s : positive) : positive :=
  match l with [] => s | q :: l' => stands_at l' (stand (fst q) s) end.

Definition proves_distance (parts : list distance_part) (e : distance_part_claim) (good : claim -> bool) : bool :=
  existsb (fun p => let c := q_proof p in
    eqb (d_both c) (e_both e) && Qeqb (d_alpha c) (e_alpha e) &&
    let s := stands_at (q_steps p) (e_from e) in
    let t := stands_at (q_steps p) (e_to e) in
    existsb (fun x => Pos.eqb (c_from x) s && Pos.eqb (c_to x) t && good x) (d_claims c)) parts.

Definition check_distance_claim (known : positive -> bool) (parts : list distance_part) (e : distance_part_claim) : bool :=
  known (e_from e) && known (e_to e) &&
  match e_lower e with
  | Some l => Qleb 0 l && Qleb l 1 && proves_distance parts e (fun x => match c_lower x with Some y => Qleb l y | None => false end)
  | None => true
  end &&
  match e_upper e with
  | Some u => Qleb 0 u && Qleb u 1 && proves_distance parts e (fun x => Qleb (c_upper x) u)
  | None => true
  end.

Definition check_distances (m : model) (parts : list distance_part) (claims : list distance_part_claim) : bool :=
  let C := chain_of m in
  check_chain m C && forallb (fun p => check_distance_part m (q_steps p) (q_proof p)) parts &&
  forallb (check_distance_claim (knows C) parts) claims.

(** The lower bound is at most every pre-fixed point, and there is a pre-fixed point at or below the upper bound. *)
Definition distance_bounds (C : chain) (both : bool) (alpha : Q) (s t : positive) (lower upper : option Q) : Prop :=
  forall F : OrderedField,
    (forall u : positive -> positive -> F, prefixed C alpha both u -> forall l, lower = Some l -> le (ofQ l) (u s t)) /\
    (forall x, upper = Some x -> exists D : positive -> positive -> F, prefixed C alpha both D /\ le (D s t) (ofQ x)).

Lemma prefixed_at (F : OrderedField) C a b both (u : positive -> positive -> F) : (a == b)%Q -> prefixed C a both u -> prefixed C b both u.
Proof.
  intros E H.
  assert (L : forall c t v, lift_le C a u (c ++ scale (- a) (row C t)) v -> lift_le C b u (c ++ scale (- b) (row C t)) v).
  { intros c t v K. intros f [B1 B2]. rewrite eval_app, eval_scale, ofQ_opp, <- (ofQ_eq F E), <- ofQ_opp, <- eval_scale, <- eval_app.
    apply K. split; [assumption |]. intros i j Hi Hj. rewrite (ofQ_eq F E). now apply B2. }
  intros s t Hs Ht. destruct (H s t Hs Ht) as (H0 & H1 & H2). split; [assumption | split; [assumption |]].
  intro Lab. destruct (H2 Lab) as [K1 K2]. split; [now apply (L (row C s) t) | intro B; now apply (L (row C t) s), K2].
Qed.

Lemma distance_bounds_at C a b both s t lower upper : (a == b)%Q -> distance_bounds C both a s t lower upper -> distance_bounds C both b s t lower upper.
Proof.
  intros E H F. destruct (H F) as [H1 H2]. assert (E' : (b == a)%Q) by now symmetry. split.
  - intros u Hu. apply H1. now apply (prefixed_at E').
  - intros x X. destruct (H2 x X) as (D & D1 & D2). exists D; split; [now apply (prefixed_at E) | assumption].
Qed.

Lemma distance_part_ok c : forall l m, chain_ok (chain_of m) -> check_distance_part m l c = true ->
  (1 <= d_alpha c)%Q /\
  forall s t x, In s (states (chain_of m)) -> In t (states (chain_of m)) -> In x (d_claims c) ->
    c_from x = stands_at l s -> c_to x = stands_at l t ->
    distance_bounds (chain_of m) (d_both c) (d_alpha c) s t (c_lower x) (Some (c_upper x)).
Proof.
  induction l as [| q l IH]; intros m Ok H; simpl in H.
  - apply check_distance_sound in H; destruct H as (_ & A & H). simpl in A. split; [assumption |].
    intros s t x Hs Ht Ix Es Et F. simpl in Es, Et. destruct (H x Ix) as (_ & _ & K). destruct (K F) as (K1 & K2 & _).
    simpl in K1, K2. rewrite Es, Et in K1, K2. split; [exact K1 |]. intros y E; injection E as <-. exact K2.
  - rewrite !andb_true_iff in H; destruct H as [[A1 Q] H]. apply Qeq_bool_iff in A1.
    apply check_quotient_ok in Q; destruct Q as (Ok' & Mg & Self). destruct (IH _ Ok' H) as [A K]. split; [assumption |].
    intros s t x Hs Ht Ix Es Et F. simpl in Es, Et.
    destruct (Mg s Hs) as (Ms & _), (Mg t Ht) as (Mt & _).
    destruct (K _ _ x Ms Mt Ix Es Et F) as [K1 K2]. split.
    + intros u Hu y E. apply le_trans with (least (chain_of m) (stand (fst q)) u (stand (fst q) s) (stand (fst q) t)).
      * apply K1; [| assumption]. apply least_prefixed; auto. rewrite A1; discriminate.
      * now apply least_le.
    + intros y E. destruct (K2 y E) as (D & D1 & D2). exists (pulled (stand (fst q)) D). split.
      * now apply pulled_prefixed with (M := chain_of (snd q)).
      * apply le_trans with (2 := D2). now apply (pulled_le Mg D1).
Qed.

Theorem check_distances_sound m parts claims : check_distances m parts claims = true ->
  chain_ok (chain_of m) /\ forall e, In e claims ->
    In (e_from e) (states (chain_of m)) /\ In (e_to e) (states (chain_of m)) /\
    distance_bounds (chain_of m) (e_both e) (e_alpha e) (e_from e) (e_to e) (e_lower e) (e_upper e).
Proof.
  unfold check_distances. rewrite !andb_true_iff, !forallb_forall. intros [[Ok Pa] Cl]. apply check_chain_ok in Ok.
  split; [assumption |]. intros e Ie. specialize (Cl e Ie). unfold check_distance_claim in Cl. rewrite !andb_true_iff in Cl.
  destruct Cl as [[[Ks Kt] Lo] Up]. apply knows_ok in Ks, Kt. split; [assumption | split; [assumption |]].
  assert (Good : forall good, proves_distance parts e good = true -> exists x, good x = true /\
    distance_bounds (chain_of m) (e_both e) (e_alpha e) (e_from e) (e_to e) (c_lower x) (Some (c_upper x))).
  { intros good G. unfold proves_distance in G. rewrite existsb_exists in G. destruct G as (p & Ip & G).
    rewrite !andb_true_iff, existsb_exists in G. destruct G as [[B A] (x & Ix & X)].
    rewrite !andb_true_iff, !Pos.eqb_eq in X. destruct X as [[Xs Xt] X]. exists x; split; [assumption |].
    destruct (distance_part_ok Ok (Pa p Ip)) as [_ K]. specialize (K _ _ x Ks Kt Ix Xs Xt).
    apply eqb_prop in B. apply Qeq_bool_iff in A. rewrite <- B. now apply (distance_bounds_at A). }
  intro F. split.
  - intros u Hu l E. rewrite E, !andb_true_iff in Lo. destruct (Good _ (proj2 Lo)) as (x & X & K).
    destruct (c_lower x) as [y |] eqn:Ey; [| easy]. apply Qle_bool_iff in X. destruct (K F) as [K1 _].
    apply le_trans with (ofQ y); [now apply ofQ_le | now apply K1].
  - intros x E. rewrite E, !andb_true_iff in Up. destruct (Good _ (proj2 Up)) as (y & X & K). apply Qle_bool_iff in X.
    destruct (K F) as [_ K2]. destruct (K2 _ eq_refl) as (D & D1 & D2). exists D; split; [assumption |].
    apply le_trans with (1 := D2). now apply ofQ_le.
Qed.

(** ** Steps of certificates of delta *)
Inductive step :=
| Quotient (q : quotient)
| Merge (classes : list (positive * positive)) (simpler : model) (proof : list distance_part) (claims : list distance_part_claim).

Record part := {
  p_cut : option (list (positive * Q));  (* by state how likely runs are cut off *)
  p_steps : list step;
  p_proof : delta_certificate  (* about the last model, whatever its own model is *)
}.

Record part_claim := {
  pc_from : positive;
  pc_to : positive;
  pc_alpha_upper : Q;
  pc_alpha_lower : Q;
  pc_lower : option Q;
  pc_upper : option Q
}.

Record steps_certificate := {
  s_model : model;
  s_cut_label : positive;  (* "cut" *)
  s_of_program : bool;  (* whether the claims are about a program whose runs the model cuts off *)
  s_parts : list part;
  s_claims : list part_claim
}.

Definition simpler_of (st : step) : model := match st with Quotient q => snd q | Merge _ m _ _ => m end.
Definition place_of (st : step) : positive -> positive := stand (match st with Quotient q => fst q | Merge c _ _ _ => c end).

(** ** Two chains side by side: the states of one become even, those of the other odd (rule N1) *)
Definition renamed (f : positive -> positive) (m : model) : model :=
  map (fun e => (f (fst e), (fst (snd e), map (fun p => (f (fst p), snd p)) (snd (snd e))))) m.

Definition side_by_side (m m' : model) : model := renamed xO m ++ renamed xI m'.

Definition delta_about (m : model) (x : delta_certificate) : delta_certificate :=
  {| x_model := m; x_merged := []; x_alpha_lower := x_alpha_lower x; x_alpha_upper := x_alpha_upper x; x_nodes := x_nodes x;
     x_ceiling := x_ceiling x; x_ratios := x_ratios x; x_claims := x_claims x |}.

(** How far states are at most from the states that stand for them: of several claims the last one. *)
Definition losses (place : positive -> positive) (claims : list distance_part_claim) : table Q :=
  build (rev (flat_map (fun e => match e_from e, e_upper e with
    | xO s, Some x => if Pos.eqb (e_to e) (xI (place s)) && e_both e && Qeqb (e_alpha e) 1 then [(s, larger_of 0 x)] else []
    | _, _ => [] end) claims)).

Definition loss_of (st : step) : positive -> option Q :=
  match st with
  | Quotient _ => fun _ => Some 0%Q
  | Merge _ _ _ claims => let found := losses (place_of st) claims in fun s => PositiveMap.find s found
  end.

Definition check_step (m : model) (st : step) : bool :=
  match st with
  | Quotient q => check_quotient m q
  | Merge _ m' proof claims =>
      let both := side_by_side m m' in
      let U := chain_of both in
      let M := chain_of m' in
      check_chain m' M && check_image (chain_of m) U xO && check_image M U xI && check_distances both proof claims
  end.

Fixpoint check_walk (m : model) (l : list step) : bool :=
  match l with [] => true | st :: l' => check_step m st && check_walk (simpler_of st) l' end.

Fixpoint last_model (m : model) (l : list step) : model :=
  match l with [] => m | st :: l' => last_model (simpler_of st) l' end.

Definition check_cut (cut : positive) (C : chain) (masses : list (positive * Q)) : bool :=
  let known := knows C in
  let k := find_or 0%Q (build masses) in
  forallb (fun e => known (fst e)) masses &&
  forallb (fun s => Qleb 0 (k s) && Qleb (if Pos.eqb (label C s) cut then 1 else evalQ (row C s) k) (k s)) (states C).

Definition check_part (cut : positive) (m : model) (p : part) : bool :=
  match p_cut p with Some k => check_cut cut (chain_of m) k | None => true end &&
  check_walk m (p_steps p) && check_delta (delta_about (last_model m (p_steps p)) (p_proof p)).

(** ** The way back *)
Definition wider (al lost_above lost_below : Q) (b : Q * Q) : Q * Q := (widened_lower (fst b) lost_below, widened_upper (snd b) lost_above).

(** What comes back for two states; [ways] are the steps with their places and losses. *)
Fixpoint back (ways : list ((positive -> positive) * (positive -> option Q))) (found : positive -> positive -> list (Q * Q)) (al : Q) (s t : positive)
  : list (Q * Q) :=
  match ways with
  | [] => found s t
  | (place, loss) :: ways' =>
      match loss s, loss t with
      | Some x, Some y => let lost := ((1 + al) * larger_of x y)%Q in map (wider al lost lost) (back ways' found al (place s) (place t))
      | _, _ => []
      end
  end.

Definition proved_claims (x : delta_certificate) (s t : positive) : list (Q * Q) :=
  flat_map (fun c => if Pos.eqb (dc_from c) s && Pos.eqb (dc_to c) t then [(dc_lower c, dc_upper c)] else []) (x_claims x).

(** What a part proves of two states. *)
Definition brought (p : part) : positive -> positive -> list (Q * Q) :=
  let al := x_alpha_lower (p_proof p) in
  let ways := map (fun st => (place_of st, loss_of st)) (p_steps p) in
  match p_cut p with
  | None => back ways (proved_claims (p_proof p)) al
  | Some masses =>
      let k := find_or 0%Q (build masses) in
      fun s t => map (wider al (larger_of (k s) (k t)) (larger_of (k s + al * k t) (k t + al * k s)))
        (back ways (proved_claims (p_proof p)) al s t)
  end.

Definition proves (parts : list (part * (positive -> positive -> list (Q * Q)))) (c : part_claim) (good : Q * Q -> bool) : bool :=
  existsb (fun pb : part * (positive -> positive -> list (Q * Q)) =>
    let x := p_proof (fst pb) in
    Qeqb (pc_alpha_upper c) (x_alpha_upper x) && Qeqb (pc_alpha_lower c) (x_alpha_lower x) &&
    existsb good (snd pb (pc_from c) (pc_to c))) parts.

Definition check_part_claim (known : positive -> bool) (parts : list (part * (positive -> positive -> list (Q * Q)))) (c : part_claim) : bool :=
  known (pc_from c) && known (pc_to c) &&
  match pc_lower c with Some l => Qleb 0 l && Qleb l 1 && proves parts c (fun b => Qleb l (fst b)) | None => true end &&
  match pc_upper c with Some u => Qleb 0 u && Qleb u 1 && proves parts c (fun b => Qleb (snd b) u) | None => true end &&
  match pc_lower c, pc_upper c with None, None => false | _, _ => true end.

Definition check_steps (x : steps_certificate) : bool :=
  let C := chain_of (s_model x) in
  check_chain (s_model x) C &&
  forallb (fun p => check_part (s_cut_label x) (s_model x) p && match p_cut p with Some _ => true | None => negb (s_of_program x) end) (s_parts x) &&
  forallb (check_part_claim (knows C) (map (fun p => (p, brought p)) (s_parts x))) (s_claims x).

(** ** What is claimed: of the chain, or of every chain that does the same until runs are cut off *)
Definition system (x : steps_certificate) (P : chain) (h : positive -> positive) : Prop :=
  let C := chain_of (s_model x) in
  chain_ok P /\ if s_of_program x then follows (s_cut_label x) C P h else P = C /\ h = (fun s => s).

Definition or_else (d : Q) (o : option Q) : Q := match o with Some q => q | None => d end.

(** ** Soundness *)
Lemma even_state m m' s : In (xO s) (states (chain_of (side_by_side m m'))) -> In s (states (chain_of m)).
Proof. simpl. unfold side_by_side, renamed. rewrite map_app, in_app_iff, !map_map, !in_map_iff; simpl.
  intros [(e & E & I) | (e & E & I)]; [| easy]. injection E as <-. now exists e. Qed.

Lemma odd_state m m' s : In (xI s) (states (chain_of (side_by_side m m'))) -> In s (states (chain_of m')).
Proof. simpl. unfold side_by_side, renamed. rewrite map_app, in_app_iff, !map_map, !in_map_iff; simpl.
  intros [(e & E & I) | (e & E & I)]; [easy |]. injection E as <-. now exists e. Qed.

Lemma losses_found place claims s x : PositiveMap.find s (losses place claims) = Some x -> exists e y, In e claims /\
  e_from e = xO s /\ e_to e = xI (place s) /\ e_both e = true /\ (e_alpha e == 1)%Q /\ e_upper e = Some y /\ x = larger_of 0 y.
Proof. unfold losses; intro H. apply build_found, in_rev, in_flat_map in H. destruct H as (e & I & H). exists e.
  destruct (e_from e) as [| s' |]; try easy. destruct (e_upper e) as [y |]; [| easy]. exists y.
  destruct (_ && _ && _) eqn:B; [| easy]. rewrite !andb_true_iff in B; destruct B as [[B1 B2] B3].
  apply Pos.eqb_eq in B1. apply Qeq_bool_iff in B3. destruct H as [H | []]. injection H as <- <-. now repeat split. Qed.

Lemma step_near m st : chain_ok (chain_of m) -> check_step m st = true ->
  chain_ok (chain_of (simpler_of st)) /\ near (chain_of m) (chain_of (simpler_of st)) (place_of st) (loss_of st).
Proof.
  intros Ok H. destruct st as [q | cl m' proof claims]; simpl in H.
  - apply check_quotient_ok in H; destruct H as (Ok' & Mg & _). split; [assumption |]. now apply merged_near.
  - rewrite !andb_true_iff in H; destruct H as [[[Ok' I1] I2] D]. apply check_chain_ok in Ok'. split; [assumption |].
    apply check_image_ok in I1, I2. apply check_distances_sound in D; destruct D as [U_ok D].
    intros s x Hs E. apply losses_found in E. destruct E as (e & y & Ie & E1 & E2 & E3 & E4 & E5 & ->).
    destruct (D e Ie) as (Us & Ut & K). rewrite E1 in Us, K. rewrite E2 in Ut, K. rewrite E3, E5 in K.
    pose proof (odd_state Ut) as Kt. split; [apply larger_of_l | split; [exact Kt |]]. intros F n E.
    destruct (K F) as [_ K2]. destruct (K2 y eq_refl) as (T & T1 & T2).
    assert (A1 : (1 <= e_alpha e)%Q) by (rewrite E4; apply Qle_refl).
    pose proof (prefixed_bounds_events U_ok A1 (prefixed_weaker T1) n E Us Ut) as B1.
    pose proof (prefixed_bounds_both_orders U_ok A1 T1 n E Us Ut) as B2.
    rewrite <- !(merging_keeps_events F Ok I1) in B1, B2 by assumption.
    rewrite <- !(merging_keeps_events F Ok' I2) in B1, B2 by assumption.
    rewrite (ofQ_eq F E4), ofQ_1 in B1, B2. pose proof (@larger_of_r 0 y) as G. apply (@ofQ_le F) in G.
    pose proof (le_trans T2 G). split; eauto using no_more.
Qed.

Lemma walk_brings_back al au (x : delta_certificate) : (1 <= au)%Q ->
  forall l m, chain_ok (chain_of m) -> check_walk m l = true ->
  (forall s t b, In b (proved_claims x s t) -> delta_between (chain_of (last_model m l)) au al s t (fst b) (snd b)) ->
  forall s t b, In s (states (chain_of m)) -> In t (states (chain_of m)) ->
  In b (back (map (fun st => (place_of st, loss_of st)) l) (proved_claims x) al s t) ->
  delta_between (chain_of m) au al s t (fst b) (snd b).
Proof.
  intros A; induction l as [| st l IH]; intros m Ok W H s t b Hs Ht I; simpl in *; [now apply H |].
  rewrite andb_true_iff in W; destruct W as [W1 W2]. destruct (step_near Ok W1) as [Ok' N].
  destruct (loss_of st s) as [p |] eqn:Ls; [| easy]. destruct (loss_of st t) as [q |] eqn:Lt; [| easy].
  apply in_map_iff in I; destruct I as (b' & <- & I).
  destruct (N s p Hs Ls) as (_ & Ps & _), (N t q Ht Lt) as (_ & Pt & _).
  specialize (IH _ Ok' W2 H _ _ _ Ps Pt I).
  exact (near_brings_back Ok A N Hs Ht Ls Lt IH).
Qed.

Lemma check_cut_ok cut C masses : check_cut cut C masses = true -> enough cut C (find_or 0%Q (build masses)).
Proof. unfold check_cut; rewrite andb_true_iff, !forallb_forall; intros [_ H] s Hs. specialize (H s Hs).
  rewrite andb_true_iff in H; destruct H as [H0 H1]. split; now apply Qle_bool_iff. Qed.

Theorem check_steps_sound x : check_steps x = true ->
  chain_ok (chain_of (s_model x)) /\
  forall c, In c (s_claims x) -> forall P h, system x P h -> forall s t, In s (states P) -> In t (states P) ->
    h s = pc_from c -> h t = pc_to c ->
    delta_between P (pc_alpha_upper c) (pc_alpha_lower c) s t (or_else 0 (pc_lower c)) (or_else 1 (pc_upper c)).
Proof.
  unfold check_steps. set (C := chain_of (s_model x)). cbv zeta. rewrite !andb_true_iff, !forallb_forall.
  intros [[Ok Parts] Claims]. apply check_chain_ok in Ok. fold C in Ok. split; [assumption |].
  intros c Ic P h [P_ok Sys] s t Hs Ht Es Et.
  assert (Fo : follows (s_cut_label x) C P h).
  { destruct (s_of_program x); [assumption |]. destruct Sys as [-> ->]. apply follows_itself. }
  assert (Proved : forall p b, In p (s_parts x) -> In b (brought p (h s) (h t)) ->
    (1 <= x_alpha_upper (p_proof p))%Q /\
    delta_between P (x_alpha_upper (p_proof p)) (x_alpha_lower (p_proof p)) s t (fst b) (snd b)).
  { intros p b Ip Ib. specialize (Parts p Ip). rewrite andb_true_iff in Parts; destruct Parts as [Pa Cu].
    unfold check_part in Pa. rewrite !andb_true_iff in Pa; destruct Pa as [[Pk Pw] Pd].
    apply check_delta_sound in Pd; destruct Pd as (_ & A & D). simpl in A.
    split; [assumption |].
    assert (W : forall b, In b (back (map (fun st => (place_of st, loss_of st)) (p_steps p)) (proved_claims (p_proof p)) (x_alpha_lower (p_proof p)) (h s) (h t)) ->
      delta_between C (x_alpha_upper (p_proof p)) (x_alpha_lower (p_proof p)) (h s) (h t) (fst b) (snd b)).
    { intros b' Ib'. refine (walk_brings_back A Ok Pw _ _ _ Ib'); [| apply (Fo s Hs) | apply (Fo t Ht)].
      intros u v b'' Ib''. unfold proved_claims in Ib''. apply in_flat_map in Ib''. destruct Ib'' as (y & Iy & Y).
      destruct (Pos.eqb_spec (dc_from y) u) as [<- |]; [| easy]. destruct (Pos.eqb_spec (dc_to y) v) as [<- |]; [| easy].
      destruct Y as [<- | []]. exact (D y Iy). }
    unfold brought in Ib. destruct (p_cut p) as [masses |].
    - apply in_map_iff in Ib; destruct Ib as (b' & <- & Ib'). apply check_cut_ok in Pk.
      exact (cut_brings_back Ok P_ok A Fo Pk Hs Ht (W _ Ib')).
    - destruct (s_of_program x); [easy |]. destruct Sys as [-> ->]. now apply W. }
  specialize (Claims c Ic). unfold check_part_claim in Claims. rewrite !andb_true_iff in Claims.
  destruct Claims as ((((_ & _) & Lo) & Up) & Some_bound).
  assert (Good : forall good, proves (map (fun p => (p, brought p)) (s_parts x)) c good = true ->
    (1 <= pc_alpha_upper c)%Q /\
    exists b, good b = true /\ delta_between P (pc_alpha_upper c) (pc_alpha_lower c) s t (fst b) (snd b)).
  { intros good G. unfold proves in G. rewrite existsb_exists in G. destruct G as ([p f] & Ip & G).
    apply in_map_iff in Ip. destruct Ip as (p' & E & Ip). injection E as -> <-. cbn [fst snd] in G.
    rewrite !andb_true_iff, existsb_exists in G. destruct G as [[A1 A2] (b & Ib & Gb)].
    apply Qeq_bool_iff in A1, A2. rewrite <- Es, <- Et in Ib. destruct (Proved p b Ip Ib) as [A K].
    split; [now rewrite A1 |]. exists b; split; [assumption |]. now apply (between_same_alpha A1 A2). }
  assert (A : (1 <= pc_alpha_upper c)%Q).
  { destruct (pc_lower c); [rewrite !andb_true_iff in Lo; now apply (Good _ (proj2 Lo)) |].
    destruct (pc_upper c); [rewrite !andb_true_iff in Up; now apply (Good _ (proj2 Up)) | easy]. }
  apply between_of_sides; auto.
  - destruct (pc_lower c) as [l |]; simpl; [| left; apply Qle_refl]. right.
    rewrite !andb_true_iff in Lo; destruct (Good _ (proj2 Lo)) as (_ & b & G & K). apply Qle_bool_iff in G. now exists (fst b), (snd b).
  - destruct (pc_upper c) as [u |]; simpl; [| left; apply Qle_refl]. right.
    rewrite !andb_true_iff in Up; destruct (Good _ (proj2 Up)) as (_ & b & G & K). apply Qle_bool_iff in G. now exists (fst b), (snd b).
Qed.
