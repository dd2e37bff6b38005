/**
 * Statements that PostgreSQL keeps by name: those of compiled queries, whose texts are few. They are parsed once a
 * connection, and planned once where the plan does not hang on the values.
 */
const names = new Map<string, string>();

/** Those that a server or what stands before it would not keep. */
const refused = new Set<string>();

export const prepare = (text: string): void => {
  if (!names.has(text) && !refused.has(text)) names.set(text, `gantry_${names.size + refused.size}`);
};

export const preparedName = (text: string): string | undefined => names.get(text);

/** From now on it is sent whole, as all others are. */
export const forgetPrepared = (text: string): void => {
  names.delete(text);
  refused.add(text);
};

/**
 * A newer process has changed the tables since (`cached plan must not change result type`), or somebody between us and
 * the server has given the connection away with what it kept.
 */
export const isPlanGone = (error: unknown): boolean => {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return code === '26000' || (code === '0A000' && String(message).includes('cached plan'));
};
