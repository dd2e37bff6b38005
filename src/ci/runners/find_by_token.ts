import { hashToken } from '../../core/access/credentials/token_text.ts';
import { compiled } from '../../platform/db/compiled_query.ts';
import { makeBatchLoader } from '../../platform/db/batch_loader.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { RunnerRow } from './rules.ts';

const byHashes = compiled((db, { hashes }: { hashes: string[] }, dialect) =>
  db.selectFrom('runners').selectAll().where(dialect.oneOf('token_hash', hashes)).compile(),
);

const byHash = makeBatchLoader(
  async (db, hashes: string[]) => await byHashes(db, { hashes }),
  ({ token_hash }) => token_hash,
);

/** Finds the runner with this token; null: none. */
export const findRunnerByToken = async (db: Reader, token: string): Promise<RunnerRow | null> =>
  (await byHash(db, hashToken(token))) ?? null;
