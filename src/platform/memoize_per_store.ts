/**
 * Memoizes a value for each store or platform (tests have several), or for each loaded viewer: created at first use,
 * garbage-collected with its owner.
 */
export const memoizePerStore = <Owner extends object, Own>(
  make: (owner: Owner) => Own,
): ((owner: Owner) => Own) => {
  const values = new WeakMap<Owner, Own>();
  return (owner) => {
    const existing = values.get(owner);
    if (existing !== undefined) return existing;
    const value = make(owner);
    values.set(owner, value);
    return value;
  };
};
