/**
 * Returns the columns whose requested value differs from the row, and the entry of the change log: `{name: [before,
 * after]}`.
 */
export const compareColumns = <W extends object>(
  row: { [K in keyof W]-?: unknown },
  requested: W,
): { changes: Partial<W>; data: Record<string, [unknown, unknown]> } => {
  const names = (Object.keys(requested) as (keyof W & string)[]).filter(
    (name) => row[name] !== requested[name],
  );
  return {
    changes: Object.fromEntries(names.map((name) => [name, requested[name]])) as Partial<W>,
    data: Object.fromEntries(names.map((name) => [name, [row[name], requested[name]]])),
  };
};
