/**
 * What `npm run dev` runs: the service from its sources, restarted when one changes, with readable logs and seeded
 * data.
 *
 *   npm run dev                          a new folder below data-dev/, removed at the end
 *   npm run dev -- --data data-dev/mine  this folder, seeded when it is new, and kept
 *   npm run dev -- --listen 127.0.0.1:9000
 *   npm run dev -- --empty               without seeded data
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fill, fillingText } from './seed/fill.ts';
import { root, startService } from './start_service.ts';

const readOptions = () => {
  try {
    const text = { type: 'string' } as const;
    return parseArgs({ options: { data: text, listen: text, empty: { type: 'boolean' } } }).values;
  } catch (error) {
    console.error((error as Error).message);
    return process.exit(2);
  }
};

const { data, listen = '127.0.0.1:8080', empty = false } = readOptions();

/** A folder that is removed when this process ends. */
const makeThrowaway = (): string => {
  const parent = join(root, 'data-dev');
  mkdirSync(parent, { recursive: true });
  const made = mkdtempSync(join(parent, 'run-'));
  process.on('exit', () => rmSync(made, { recursive: true, force: true }));
  return made;
};

const folder = data === undefined ? makeThrowaway() : resolve(data);
const isNew = data === undefined || !existsSync(folder);
const [token, password] = [randomBytes(15).toString('base64url'), randomBytes(9).toString('base64url')];

let stop = async (): Promise<void> => {};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => void stop().then(() => process.exit(0)));

const service = await startService({
  // The secrets count only at the first start of a folder.
  env: {
    GANTRY_DATA: folder,
    GANTRY_LISTEN: listen,
    GANTRY_ROOT_TOKEN: token,
    GANTRY_ROOT_PASSWORD: password,
  },
  watch: true,
  print: (text) => void process.stdout.write(text),
}).catch((error: unknown) => {
  console.error(`dev: ${(error as Error).message}`);
  return process.exit(1);
});
stop = service.stop;

if (isNew) {
  const seeded = empty ? null : await fill({ url: service.url, token, password });
  const text = seeded === null ? `Sign in at ${service.url}` : fillingText(service.url, seeded, password);
  console.log(`${text}\nAdministrator: root, with the same password; token: ${token}`);
}
console.log(`Data: ${folder}. The service restarts when a source changes; Ctrl+C ends it.`);
process.exitCode = await service.ended;
