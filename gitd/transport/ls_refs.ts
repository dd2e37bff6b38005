/** Answers `ls-refs` of protocol v2 from a cache while no ref has changed. */
import type { Context } from '../handler_types.ts';
import { file, flag } from '../exec/arguments.ts';
import { type Hidden, hiddenKey, hidingRefs } from '../exec/environment.ts';
import { makeLruCache } from '../lru_cache.ts';
import { getGeneration } from '../refs/ref_generation.ts';
import { copyUnpooled } from '../copy_unpooled.ts';
import { protocolVariables } from './advertise.ts';
import type { Request } from './parse_request.ts';

/** Maximum bytes of all cached answers, and of one. */
const budget = 32 * 2 ** 20;
const maxAnswerBytes = 4 * 2 ** 20;

/** Overhead of a cached answer in bytes. */
const overhead = 300;

type Listing = { generation: number; answer: Buffer };

/** One answer per repository and request: a newer one replaces it. */
const listings = makeLruCache<Listing>(budget, ({ answer }, key) => answer.length + key.length + overhead);

/**
 * Answers a request for refs.
 * @param dir the repository, or an empty one
 */
export const listRefs = async (
  context: Context,
  { dir, hidden }: { dir: string; hidden: Hidden },
  request: Request,
): Promise<Buffer> => {
  const key = `${dir} ${hiddenKey(hidden)} ${request.key}`;
  const generation = getGeneration(dir);
  const listing = listings.get(key);
  if (listing?.generation === generation) return listing.answer;
  const { stdout } = await context.exec.run({
    command: 'upload-pack',
    args: [flag('--stateless-rpc'), file(dir)],
    dir: null,
    slot: 'interactive',
    seconds: 120,
    signal: context.signal,
    variables: protocolVariables(2),
    config: hidingRefs(hidden),
    input: request.bytes,
    maxOutput: 512 * 2 ** 20,
  });
  if (stdout.length <= maxAnswerBytes) listings.set(key, { generation, answer: copyUnpooled(stdout) });
  return stdout;
};
