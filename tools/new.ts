/**
 * What `npm run new` runs: prints the parts of something new, and writes nothing.
 *
 *   npm run new -- endpoint issues subscribers              GET /projects/:id/issues/:issue_iid/subscribers
 *   npm run new -- endpoint issues lock --method POST
 */
import { parseArgs } from 'node:util';
import { NewFailure, scaffoldEndpoint } from './new/endpoint.ts';

const usage = 'usage: npm run new -- endpoint RESOURCE NAME [--method GET|POST|PUT|PATCH|DELETE]';

const main = (): void => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { method: { type: 'string', default: 'GET' } },
  });
  const [kind, resource, name, ...more] = positionals;
  if (kind !== 'endpoint' || resource === undefined || name === undefined || more.length > 0)
    throw new NewFailure(usage);
  const { declaration, row, test } = scaffoldEndpoint({ method: values.method, resource, name });
  const next = '# then: npm run golden';
  console.log([declaration, row, test, next].join('\n\n'));
};

try {
  main();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 2;
}
