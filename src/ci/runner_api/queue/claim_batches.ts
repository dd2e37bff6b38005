/** Batches simultaneous claims: claims on jobs of one pipeline share a transaction. */
import type { Platform } from '../../../core/platform.ts';
import { compiled } from '../../../platform/db/compiled_query.ts';
import { Batches } from '../job_batches.ts';
import { type Claim, type Claimed, type Unclaimed, claimAll } from './claim_jobs.ts';

const loadPipelineIds = compiled((db, { ids }: { ids: number[] }, dialect) =>
  db.selectFrom('jobs').select(['id', 'pipeline_id']).where(dialect.oneOf('id', ids)).compile(),
);

type Outcome = Claimed | Unclaimed;

type Waiting = Claim & {
  settle: (outcome: Outcome | Promise<Outcome>) => void;
  fail: (error: unknown) => void;
};

export class Claims {
  readonly #platform: Pick<Platform, 'store' | 'random'>;
  readonly #batches: Batches<Claim, Outcome>;
  #gathered: Waiting[] = [];

  constructor(platform: Pick<Platform, 'store' | 'random'>) {
    const { store, random } = platform;
    this.#platform = platform;
    this.#batches = new Batches(
      store,
      async (tx, pipeline_id, claims) => await claimAll(tx, random, pipeline_id, claims),
    );
  }

  async claim(claim: Claim): Promise<Outcome> {
    return await new Promise<Outcome>((settle, fail) => {
      this.#gathered.push({ ...claim, settle, fail });
      // Callers that were answered together call again together.
      if (this.#gathered.length === 1) setImmediate(() => void this.#share());
    });
  }

  /** Hands each claim to the batch of its pipeline. */
  async #share(): Promise<void> {
    const gathered = this.#gathered;
    this.#gathered = [];
    try {
      const rows = await loadPipelineIds(this.#platform.store.db, {
        ids: gathered.map(({ job_id }) => job_id),
      });
      const pipelineIds = new Map(rows.map(({ id, pipeline_id }) => [id, pipeline_id]));
      for (const { taker, job_id, settle } of gathered) {
        const pipeline_id = pipelineIds.get(job_id);
        if (pipeline_id === undefined) settle({ why: 'taken' });
        else settle(this.#batches.add(pipeline_id, { taker, job_id }));
      }
    } catch (error) {
      for (const { fail } of gathered) fail(error);
    }
  }
}
