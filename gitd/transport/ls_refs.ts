/** Answers `ls-refs` of protocol v2 from a cache while no ref has changed. */
import type { Writable } from 'node:stream';
import type { Context } from '../handler_types.ts';
import { file, flag } from '../exec/arguments.ts';
import { type HiddenRefs, hiddenRefsKey, hideRefsConfig } from '../exec/hidden_refs.ts';
import type { Watchdog } from '../exec/transfer_watchdog.ts';
import { makeLruCache } from '../lru_cache.ts';
import { getGeneration } from '../refs/ref_generation.ts';
import { copyUnpooled } from '../copy_unpooled.ts';
import { protocolVariables } from './advertise.ts';
import type { Request } from './parse_request.ts';
import { sendOutput } from './send_output.ts';

/** Maximum bytes of all cached answers. */
const budget = 32 * 2 ** 20;

/** Overhead of a cached answer in bytes. */
const overhead = 300;

type Listing = { generation: number; answer: Buffer };

/** One answer per repository and request: a newer one replaces it. */
const listings = makeLruCache<Listing>(budget, ({ answer }, key) => answer.length + key.length + overhead);

type Listed = { dir: string; hidden: HiddenRefs; output: Writable; watching: Watchdog };

/**
 * Answers a request for refs.
 * @property dir the repository, or an empty one
 */
export const sendRefs = async (
  context: Context,
  { dir, hidden, output, watching }: Listed,
  request: Request,
): Promise<void> => {
  const key = `${dir} ${hiddenRefsKey(hidden)} ${request.key}`;
  const generation = getGeneration(dir);
  const listing = listings.get(key);
  if (listing?.generation === generation) {
    output.write(listing.answer);
    return;
  }
  const run = {
    command: 'upload-pack',
    args: [flag('--stateless-rpc'), file(dir)],
    dir: null,
    seconds: 120,
    variables: protocolVariables(2),
    config: hideRefsConfig(hidden),
    input: request.bytes,
  } as const;
  const answer = await sendOutput(context, { run, key: `refs ${generation} ${key}`, output, watching });
  if (answer !== null) listings.set(key, { generation, answer: copyUnpooled(answer) });
};
