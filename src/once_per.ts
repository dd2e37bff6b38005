/**
 * What a process keeps for each of its stores or platforms (of which tests have several): made when it is first asked
 * for, gone with its owner.
 */
export const oncePer = <Owner extends object, Own>(make: (owner: Owner) => Own): ((owner: Owner) => Own) => {
  const all = new WeakMap<Owner, Own>();
  return (owner) => {
    const known = all.get(owner);
    if (known !== undefined) return known;
    const made = make(owner);
    all.set(owner, made);
    return made;
  };
};
