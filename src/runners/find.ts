import { hashToken } from '../access/token_text.ts';
import { compiled } from '../db/compiled.ts';
import type { Reader } from '../db/open.ts';
import type { RunnerRow } from './rules.ts';

const runnerByHash = compiled((db, { token_hash }: { token_hash: string }) =>
  db.selectFrom('runners').selectAll().where('token_hash', '=', token_hash).compile(),
);

/** The runner whose token this is; null: nobody's. */
export const findRunnerByToken = async (db: Reader, token: string): Promise<RunnerRow | null> => {
  const [found] = await runnerByHash(db, { token_hash: hashToken(token) });
  return found ?? null;
};
