/**
 * What `npm run seed` runs: fills an instance with made-up records through the API.
 *
 *   npm run seed -- --url http://127.0.0.1:8080 --token TOKEN    a running instance; the token of an administrator
 *   npm run seed -- --data data-dev/mine                         a data folder that no service uses, new or not
 *
 * The token needs the scopes `api` and `sudo`; `GANTRY_SEED_TOKEN` sets it, too. `--password` is for the users that
 * are created; without it, one is generated and printed.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { fill, fillingText } from './seed/fill.ts';
import { root, startService } from './start_service.ts';

type Options = { url?: string; token?: string; data?: string; password?: string };

const usage =
  'use --url URL --token TOKEN for a running instance, or --data FOLDER for one that is not running';

const readOptions = (): Options => {
  try {
    const text = { type: 'string' } as const;
    const { values } = parseArgs({ options: { url: text, token: text, data: text, password: text } });
    if ((values.url === undefined) === (values.data === undefined)) throw new Error(usage);
    return values;
  } catch (error) {
    console.error((error as Error).message);
    return process.exit(2);
  }
};

/** Serves the folder while the seed runs. */
const seedFolder = async (data: string, password: string): Promise<string> => {
  const env = {
    GANTRY_DATA: data,
    GANTRY_LISTEN: '127.0.0.1:0',
    GANTRY_RUNNER_EXECUTOR: 'none',
    GANTRY_LOG_LEVEL: 'info',
  };
  const service = await startService({ env, print: () => undefined });
  try {
    const program = [join(root, 'src/app/cli/main.ts'), 'admin', 'token', 'create'];
    const args = [...program, '--user', 'root', '--name', 'seed', '--scopes', 'api,sudo'];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, ...env } });
    const token = stdout.trim();
    const text = fillingText(
      'http://127.0.0.1:8080',
      await fill({ url: service.url, token, password }),
      password,
    );
    await fetch(new URL('/api/v4/personal_access_tokens/self', service.url), {
      method: 'DELETE',
      headers: { 'private-token': token },
    });
    return `${text}\nServe it: npm start -- --data ${data}`;
  } finally {
    await service.stop();
  }
};

const main = async (): Promise<void> => {
  const { url, data, token = process.env['GANTRY_SEED_TOKEN'], ...rest } = readOptions();
  const password = rest.password ?? randomBytes(9).toString('base64url');
  if (data !== undefined) {
    console.log(await seedFolder(resolve(data), password));
    return;
  }
  if (url === undefined || token === undefined) throw new Error(usage);
  console.log(fillingText(url, await fill({ url, token, password }), password));
};

try {
  await main();
} catch (error) {
  console.error(`seed: ${(error as Error).message}`);
  process.exitCode = 1;
}
