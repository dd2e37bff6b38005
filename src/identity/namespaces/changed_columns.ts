/**
 * Returns the columns whose requested value differs from the row, and the entry of the change log: `{name: [before,
 * after]}`.
 */
export const compareColumns = <W extends object>(
  row: { [K in keyof W]-?: unknown },
  wanted: W,
): { changes: Partial<W>; data: Record<string, [unknown, unknown]> } => {
  const names = (Object.keys(wanted) as (keyof W & string)[]).filter((name) => row[name] !== wanted[name]);
  return {
    changes: Object.fromEntries(names.map((name) => [name, wanted[name]])) as Partial<W>,
    data: Object.fromEntries(names.map((name) => [name, [row[name], wanted[name]]])),
  };
};
