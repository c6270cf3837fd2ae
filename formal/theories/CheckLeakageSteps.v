(** * Certificates of leakage with parts, proved: states that are alike are merged (docs/certificates/step-quotient.md) *)

From Coq Require Import ZArith QArith List Bool FMapPositive Permutation Field Lia.
From Bisimdist Require Import OrderedField Combination Chain Ratios Merging Leakage Measures LeakageGraph Tables CheckChain Check CheckSteps CheckLeakage.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Record leak_part := { lp_steps : list quotient; lp_proof : leak_certificate (* about the last model *) }.

Record leak_said := {
  ls_quantity : quantity;
  ls_about : worlds;
  ls_lower : option from_below;
  ls_upper : option (option Q)  (* None for infinity *)
}.

(** Everything that an answer depends on. *)
Definition about_rows (k : quantity) (a : worlds) : rows_of := match k with Guess => first_of a :: others_of a | _ => pair_rows a end.

Definition same_quantity (k k' : quantity) : bool :=
  match k, k' with
  | Guess, Guess | Chi2, Chi2 | Kl, Kl | Hellinger, Hellinger => true
  | Renyi m, Renyi m' => Pos.eqb m m'
  | _, _ => false
  end.

Definition all2 (A B : Type) (same : A -> B -> bool) : list A -> list B -> bool :=
  fix go l m := match l, m with [], [] => true | x :: l', y :: m' => same x y && go l' m' | _, _ => false end.

Definition same_masses : rows_of -> rows_of -> bool := all2 (all2 (fun e e' : positive * Q => Pos.eqb (fst e) (fst e') && Qeqb (snd e) (snd e'))).

Fixpoint check_quotients (m : model) (l : list quotient) : bool :=
  match l with [] => true | q :: l' => check_quotient m q && check_quotients (snd q) l' end.

Fixpoint last_of (m : model) (l : list quotient) : model := match l with [] => m | q :: l' => last_of (snd q) l' end.

Fixpoint pushed (l : list quotient) (M : rows_of) : rows_of := match l with [] => M | q :: l' => pushed l' (map (push (stand (fst q))) M) end.

Definition leak_about (m : model) (x : leak_certificate) : leak_certificate :=
  {| lx_model := m; lx_quantity := lx_quantity x; lx_width := lx_width x; lx_ratios := lx_ratios x; lx_nodes := lx_nodes x; lx_claims := lx_claims x |}.

Definition proves_leak (parts : list leak_part) (c : leak_said) (good : leak_claim -> bool) : bool :=
  existsb (fun p =>
    same_quantity (ls_quantity c) (lx_quantity (lp_proof p)) &&
    existsb (fun y =>
      Qeqb (multiple (ls_quantity c) (ls_about c)) (multiple (ls_quantity c) (lc_about y)) &&
      same_masses (pushed (lp_steps p) (about_rows (ls_quantity c) (ls_about c))) (about_rows (ls_quantity c) (lc_about y)) && good y)
      (lx_claims (lp_proof p))) parts.

Definition lower_fits (said proved : from_below) : bool :=
  match said, proved with _, Infinite => true | Finite z, Finite x => Qleb z x | Infinite, Finite _ => false end.

Definition check_leak_said (known : positive -> bool) (parts : list leak_part) (c : leak_said) : bool :=
  forallb (forallb (fun e => known (fst e))) (about_rows (ls_quantity c) (ls_about c)) &&
  match ls_lower c with Some z => proves_leak parts c (fun y => lower_fits z (lc_lower y)) | None => true end &&
  match ls_upper c with
  | Some (Some u) => proves_leak parts c (fun y => at_most (lc_upper y) u)
  | Some None => proves_leak parts c (fun _ => true)
  | None => true
  end.

Definition check_leak_parts (g : guesses) (m : model) (parts : list leak_part) (claims : list leak_said) : bool :=
  let C := chain_of m in
  check_chain m C &&
  forallb (fun p => check_quotients m (lp_steps p) && check_leakage g (leak_about (last_of m (lp_steps p)) (lp_proof p))) parts &&
  forallb (check_leak_said (knows C) parts) claims.

Definition said_holds (C : chain) (c : leak_said) : Prop :=
  forall (F : OrderedField) (t : tools F (ls_quantity c)),
    (forall u, ls_upper c = Some (Some u) -> forall n, leq (answer C t (ls_about c) (S n)) (Some (ofQ u))) /\
    (forall z, ls_lower c = Some z -> reaches z (fun n => answer C t (ls_about c) (S n))).

Section Soundness.
Variable F : OrderedField.
Local Open Scope field_scope.

Definition whole_rows (C : chain) (k : quantity) (t : tools F k) (M : rows_of) (n : nat) : option F :=
  match k with Guess => Some (guessed F C (hd [] M) (tl M) n) | _ => leaked C (measure_of t) M n end.

Lemma whole_of_rows C k (t : tools F k) a n : whole C t a n = whole_rows C t (about_rows k a) n.
Proof. destruct k; reflexivity. Qed.

Lemma esum_permuted (l m : list (option F)) : Permutation l m -> esum l = esum m.
Proof. induction 1; simpl; [reflexivity | now rewrite IHPermutation | rewrite !plus_assoc; f_equal; apply plus_comm | congruence]. Qed.

(** Chains with equal labels have equal words, but for their order. *)
Lemma words_permuted C M n : Permutation (all_labels C) (all_labels M) -> forall f : list positive -> option F,
  esum (map f (words C n)) = esum (map f (words M n)).
Proof.
  intro P. induction n as [| n IH]; intro f; [reflexivity |]. cbn [words]. rewrite !esum_flat.
  transitivity (esum (map (fun l => esum (map f (map (cons l) (words M n)))) (all_labels C))).
  - apply esum_ext. intros l _. rewrite !map_map. apply IH.
  - apply esum_permuted. now apply Permutation_map.
Qed.

Lemma sum_permuted C M n : Permutation (all_labels C) (all_labels M) -> forall f : list positive -> F, sum (map f (words C n)) = sum (map f (words M n)).
Proof. intros P f. pose proof (words_permuted n P (fun w => Some (f w))) as H. rewrite !esum_some in H. congruence. Qed.

Lemma same_whole C M k (t : tools F k) A B n : Permutation (all_labels C) (all_labels M) -> length A = length B ->
  (forall i E, eval (nth i A []) (fun s => pr C n s E) = eval (nth i B []) (fun s => pr M n s E) :> F) -> whole_rows C t A n = whole_rows M t B n.
Proof.
  intros P Len H.
  assert (All : forall E, map (fun r => eval r (fun s => pr C n s E) : F) A = map (fun r => eval r (fun s => pr M n s E)) B).
  { intro E. specialize (fun i => H i E). clear P. revert B Len H. induction A as [| r A IH]; intros [| r' B] Len H; simpl in *; try easy.
    f_equal; [exact (H O) |]. apply IH; [congruence |]. intro i. exact (H (S i)). }
  destruct k; cbn [whole_rows]; try (unfold leaked; rewrite (words_permuted n P); apply esum_ext; intros w _; f_equal; apply All).
  f_equal. unfold guessed. rewrite (sum_permuted n P). apply sum_ext. intros w _. cbv zeta. specialize (All (is_word w)).
  destruct A as [| r A], B as [| r' B]; simpl in *; try easy. injection All as E1 E2. now rewrite E1, E2.
Qed.

Lemma eval_pushed_row C M rep r n E : chain_ok C -> merged C M rep -> (forall s q, In (s, q) r -> In s (states C)) ->
  eval (push rep r) (fun s => pr M n s E) = eval r (fun s => pr C n s E) :> F.
Proof. intros Ok Mg H. rewrite eval_push. apply eval_ext. intros s q I. symmetry. apply (merging_keeps_events F Ok Mg). now apply (H s q). Qed.

Lemma labels_of_quotient m q : check_quotient m q = true -> Permutation (all_labels (chain_of m)) (all_labels (chain_of (snd q))).
Proof.
  intro H. apply check_quotient_ok in H. destruct H as (_ & Mg & St). apply NoDup_Permutation; [apply NoDup_nodup | apply NoDup_nodup |].
  intro l. unfold all_labels. rewrite !nodup_In, !in_map_iff. split; intros (s & <- & I).
  - destruct (Mg s I) as (I' & E & _). now exists (stand (fst q) s).
  - destruct (St s I) as [I' E]. destruct (Mg s I') as (_ & E' & _). rewrite E in E'. now exists s.
Qed.

Lemma pushed_whole l : forall m k (t : tools F k) A n, chain_ok (chain_of m) -> check_quotients m l = true ->
  (forall r s q, In r A -> In (s, q) r -> In s (states (chain_of m))) ->
  whole_rows (chain_of m) t A n = whole_rows (chain_of (last_of m l)) t (pushed l A) n.
Proof.
  induction l as [| q l IH]; intros m k t A n Ok H K; [reflexivity |]. simpl in *. rewrite andb_true_iff in H. destruct H as [Hq Hl].
  pose proof (labels_of_quotient Hq) as P. apply check_quotient_ok in Hq. destruct Hq as (Ok' & Mg & _).
  rewrite (same_whole (M := chain_of (snd q)) (B := map (push (stand (fst q))) A) (n := n) t P); [| now rewrite map_length |].
  - apply IH; [assumption | assumption |]. intros r s x I Is. apply in_map_iff in I. destruct I as (r' & <- & I).
    apply in_map_iff in Is. destruct Is as ([s' x'] & E & Is). injection E as <- _. simpl. apply (Mg s'). now apply (K r' s' x').
  - intros i E. change (@nil (positive * Q)) with (push (stand (fst q)) []) at 2. rewrite map_nth. symmetry.
    apply (eval_pushed_row n E Ok Mg). intros s x I. destruct (nth_in_or_default i A []) as [J | J]; [now apply (K _ s x J) | now rewrite J in I].
Qed.

Lemma all2_length (A B : Type) (same : A -> B -> bool) l : forall m, all2 same l m = true -> length l = length m.
Proof. induction l as [| x l IH]; intros [| y m] H; simpl in *; try easy. rewrite andb_true_iff in H. f_equal. now apply IH. Qed.

Lemma same_row_ok (f : positive -> F) r : forall r', all2 (fun e e' : positive * Q => Pos.eqb (fst e) (fst e') && Qeqb (snd e) (snd e')) r r' = true ->
  eval r f = eval r' f.
Proof.
  induction r as [| [s q] r IH]; intros [| [s' q'] r'] H; simpl in *; try easy. rewrite !andb_true_iff in H. destruct H as [[E1 E2] H].
  apply Pos.eqb_eq in E1. apply Qeq_bool_iff in E2. now rewrite E1, (ofQ_eq F E2), (IH r').
Qed.

Lemma same_masses_ok C k (t : tools F k) A B n : same_masses A B = true -> whole_rows C t A n = whole_rows C t B n.
Proof.
  intro H. apply same_whole; [apply Permutation_refl | now apply all2_length in H |]. intros i E. revert B i H.
  induction A as [| r A IH]; intros [| r' B] i H; simpl in *; try easy. rewrite andb_true_iff in H. destruct H as [H1 H2].
  destruct i as [| i]; [now apply same_row_ok | now apply IH].
Qed.
End Soundness.

Lemma same_quantity_ok k k' : same_quantity k k' = true -> k = k'.
Proof. destruct k, k'; simpl; try easy. intro E. apply Pos.eqb_eq in E. now subst. Qed.

Theorem check_leak_parts_sound g m parts claims : check_leak_parts g m parts claims = true ->
  chain_ok (chain_of m) /\ forall c, In c claims -> said_holds (chain_of m) c.
Proof.
  unfold check_leak_parts. set (C := chain_of m). cbv zeta. rewrite !andb_true_iff, !forallb_forall. intros [[Ok Pa] Cl].
  apply check_chain_ok in Ok. fold C in Ok. split; [assumption |]. intros c Ic F t. specialize (Cl c Ic).
  unfold check_leak_said in Cl. rewrite !andb_true_iff in Cl. destruct Cl as [[Kn Lo] Up].
  set (k := ls_quantity c) in *. set (a := ls_about c) in *.
  assert (Known : forall r s q, In r (about_rows k a) -> In (s, q) r -> In s (states C)).
  { intros r s q I Is. rewrite forallb_forall in Kn. specialize (Kn r I). rewrite forallb_forall in Kn. exact (knows_ok (Kn (s, q) Is)). }
  assert (Same : forall good, proves_leak parts c good = true -> exists y, good y = true /\
    (forall u, lc_upper y = Some u -> forall n, leq (answer C t a (S n)) (Some (ofQ u))) /\ reaches (lc_lower y) (fun n => answer C t a (S n))).
  { intros good H. unfold proves_leak in H. apply existsb_exists in H. destruct H as (p & Ip & H). rewrite andb_true_iff in H. destruct H as [Sq H].
    apply existsb_exists in H. destruct H as (y & Iy & H). rewrite !andb_true_iff in H. destruct H as [[Mu Sm] Gd]. exists y. split; [assumption |].
    specialize (Pa p Ip). rewrite andb_true_iff in Pa. destruct Pa as [Qu Ck]. apply check_leakage_sound in Ck. destruct Ck as [_ Ck].
    specialize (Ck y Iy F). cbn [leak_about lx_model lx_quantity] in Ck. apply same_quantity_ok in Sq. fold k in Sq. rewrite <- Sq in Ck. specialize (Ck t).
    assert (Eq : forall n, answer (chain_of (last_of m (lp_steps p))) t (lc_about y) n = answer C t a n).
    { intro n. unfold answer. apply Qeq_bool_iff in Mu. fold k a in Mu. rewrite (ofQ_eq F Mu). do 2 f_equal. rewrite !whole_of_rows. symmetry.
      rewrite <- (same_masses_ok _ t n Sm). now apply pushed_whole. }
    destruct Ck as [U Lw]. split; [intros u Eu n; rewrite <- Eq; now apply U |].
    destruct (lc_lower y) as [z |]; [intros r Hr; destruct (Lw r Hr) as [n H] | intro b; destruct (Lw b) as [n H]]; exists n; now rewrite <- Eq. }
  split.
  - intros u E n. rewrite E in Up. destruct (Same _ Up) as (y & Gd & U & _). unfold at_most in Gd. destruct (lc_upper y) as [x |]; [| easy].
    apply Qle_bool_iff in Gd. eapply leq_trans; [now apply (U x) | now apply ofQ_le].
  - intros z E. rewrite E in Lo. destruct (Same _ Lo) as (y & Gd & _ & Lw). destruct z as [z |], (lc_lower y) as [x |]; simpl in *; try easy.
    + intros r Hr. apply Qle_bool_iff in Gd. destruct (Lw r Hr) as [n H]. exists n. eapply leq_trans; [| exact H]. apply ofQ_le. now apply Qplus_le_l.
Qed.
