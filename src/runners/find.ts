import { hashToken } from '../access/token_text.ts';
import { compiled } from '../db/compiled.ts';
import { gathered } from '../db/gathered.ts';
import type { Reader } from '../db/open.ts';
import type { RunnerRow } from './rules.ts';

const byHashes = compiled((db, { hashes }: { hashes: string[] }, words) =>
  db.selectFrom('runners').selectAll().where(words.oneOf('token_hash', hashes)).compile(),
);

const byHash = gathered(
  async (db, hashes: string[]) => await byHashes(db, { hashes }),
  ({ token_hash }) => token_hash,
);

/** The runner whose token this is; null: nobody's. */
export const findRunnerByToken = async (db: Reader, token: string): Promise<RunnerRow | null> =>
  (await byHash(db, hashToken(token))) ?? null;
