/**
 * Each attribute of projects and groups that clients can send is kept, and answered as it was sent; where it is not,
 * or has no effect, it is named in `Gantry-Ignored-Parameters`.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { endpoints } from '../../../src/app/routes.ts';
import { clientParameters } from '../../golden/client_parameters.ts';
import { seedCommit } from '../../support/repositories/seed_commits.ts';
import { unique } from '../../support/seed.ts';
import { type TestService, startTestService } from '../../support/service.ts';

let gantry: TestService;
before(async () => void (gantry = await startTestService()));
after(async () => await gantry.close());

type Property = { type?: string; enum?: string[]; minimum?: number; 'x-kind'?: string };

/** Values of attributes that not every text is a value of. */
const special: { [name: string]: unknown } = {
  topics: ['bridges'],
  tag_list: ['bridges'],
  default_branch: 'side',
  default_branch_protection_defaults: undefined,
  file_path: undefined,
  build_timeout: 7200,
  ci_default_git_depth: 7,
  max_artifacts_size: 5,
  two_factor_grace_period: 9,
};

/** Attributes that are no text of a body, or whose effect is elsewhere in the answer. */
const elsewhere: { [name: string]: (body: Record<string, unknown>) => unknown } = {
  public: ({ visibility }) => visibility === 'public',
  public_builds: ({ public_jobs }) => public_jobs,
  default_branch_protection: ({ default_branch_protection: level }) => level,
};

/** Values that differ from those of a new record. */
const candidates = (name: string, property: Property | undefined, current: unknown): unknown[] => {
  if (name in special) return special[name] === undefined ? [] : [special[name]];
  if (property?.type === 'boolean') return [current !== true];
  if (property?.enum !== undefined) return property.enum.filter((word) => word !== current);
  if (property?.type === 'integer') return [(property.minimum ?? 0) + 1];
  return [unique('made')];
};

const places = [
  {
    path: '/projects',
    make: async (): Promise<string> => {
      const json = { path: unique('made'), initialize_with_readme: false, visibility: 'internal' };
      const { body } = await gantry.api('POST /projects', { json });
      await seedCommit(gantry, body.id, { a: 'a' });
      await gantry.api(`POST /projects/${body.id}/repository/branches?branch=side&ref=main`);
      return `/projects/${body.id}`;
    },
  },
  {
    path: '/groups',
    make: async (): Promise<string> => {
      const json = { name: unique('Made'), path: unique('made'), visibility: 'internal' };
      return `/groups/${(await gantry.api('POST /groups', { json })).body.id}`;
    },
  },
];

/** Without a configured registry, projects have none: the level is not kept. */
const withoutRegistry = ['container_registry_access_level', 'container_registry_enabled'];

for (const { path, make } of places) {
  describe(`PUT ${path}/:id`, () => {
    const request = `PUT ${path}/:id`;
    const sent = clientParameters(endpoints).filter((one) => one.request === request);
    let at: string;
    before(async () => void (at = await make()));
    for (const { name, endpoint, treatment } of sent) {
      if (name === 'avatar') continue; // a file
      if (name === 'repository_storage') continue; // takes names of storages only
      const isKept = ['acts', 'kept'].includes(treatment) && !withoutRegistry.includes(name);
      const isNamed = treatment !== 'acts' || !isKept;
      it(`${[isKept && 'keeps', isNamed && 'names'].filter(Boolean).join(' and ')} ${name}`, async () => {
        const read = elsewhere[name] ?? ((body: Record<string, unknown>) => body[name]);
        const earlier = read((await gantry.api(`GET ${at}`)).body);
        const property: Property | undefined = endpoint.params.properties[name];
        for (const value of candidates(name, property, earlier)) {
          const reply = await gantry.api(`PUT ${at}`, { json: { [name]: value } });
          assert.ok(reply.status === 200 || (!isKept && reply.status === 400), reply.text);
          const ignored = (reply.headers.get('gantry-ignored-parameters') ?? '').split(', ');
          assert.equal(ignored.includes(name), isNamed);
          assert.deepEqual(read((await gantry.api(`GET ${at}`)).body), isKept ? value : earlier);
        }
      });
    }
  });
}
