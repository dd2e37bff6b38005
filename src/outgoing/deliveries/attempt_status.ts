/** Success and failure of attempts, in code and in SQL over `hook_logs`. */
import { type RawBuilder, sql } from 'kysely';
import { invalid } from '../../platform/errors.ts';
import type { HookLogsTable } from '../../platform/db/schema/hooks.ts';

export const isSuccess = (status: number | null, error: string | null): boolean =>
  error === null && status !== null && status >= 200 && status < 300;

/** SQL condition: the attempt succeeded. Never null. */
export const wasSuccessful = sql<boolean>`(error is null and response_status is not null
  and response_status >= 200 and response_status < 300)`;

/** Returns whether an attempt of the log succeeded. */
export const isLoggedSuccess = ({
  response_status,
  error,
}: Pick<HookLogsTable, 'response_status' | 'error'>): boolean => isSuccess(response_status, error);

export const statusWords = ['successful', 'client_failure', 'server_failure', 'no_response'] as const;
export type StatusWord = (typeof statusWords)[number];

const conditions: Record<StatusWord, RawBuilder<boolean>> = {
  successful: wasSuccessful,
  client_failure: sql<boolean>`(response_status >= 400 and response_status < 500)`,
  server_failure: sql<boolean>`(response_status >= 500 and response_status < 600)`,
  no_response: sql<boolean>`response_status is null`,
};

const isStatusWord = (value: string): value is StatusWord => Object.hasOwn(conditions, value);

/**
 * Returns the SQL condition of a filter: an attempt matches any of the values, each a response code or a word.
 * @throws Failure 400 for another value
 */
export const toStatusCondition = (values: readonly string[]): RawBuilder<boolean> => {
  const texts = new Set(values.flatMap((value) => value.split(',')).map((value) => value.trim()));
  const words = [...texts].filter(isStatusWord);
  const codes = [...texts].filter((text) => !isStatusWord(text));
  if (!codes.every((text) => /^[1-9]\d\d$/.test(text)))
    throw invalid({ status: [`must be a response code, or one of ${statusWords.join(', ')}`] });
  // One list: SQLite refuses an expression of more than a thousand conditions.
  const isCode = sql<boolean>`response_status in (${sql.join(codes.map(Number))})`;
  const parts = [...words.map((word) => conditions[word]), ...(codes.length > 0 ? [isCode] : [])];
  return sql<boolean>`(${sql.join(parts, sql` or `)})`;
};
