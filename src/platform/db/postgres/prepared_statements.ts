/**
 * Names of prepared statements by text: the few texts of compiled queries. Each connection parses them once, and
 * plans them once if the plan does not depend on the values.
 */
const names = new Map<string, string>();

/** Texts that the server, or a proxy before it, cannot prepare. */
const refused = new Set<string>();

export const prepare = (text: string): void => {
  if (!names.has(text) && !refused.has(text)) names.set(text, `gantry_${names.size + refused.size}`);
};

export const preparedName = (text: string): string | undefined => names.get(text);

/** Sends a statement unprepared from now on. */
export const forgetPrepared = (text: string): void => {
  names.delete(text);
  refused.add(text);
};

/**
 * Returns whether a prepared statement is gone: a newer process altered the tables (`cached plan must not change result
 * type`), or a pooler handed the connection to another client.
 */
export const isPlanGone = (error: unknown): boolean => {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return code === '26000' || (code === '0A000' && String(message).includes('cached plan'));
};
