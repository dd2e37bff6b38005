/** Projects whose pipelines start others, and what a test sees of them. */
import { settle } from '../support/seed_merge_requests.ts';
import { type Pushed, seedPushed } from '../support/ci/pipelines.ts';
import { type Peer, type PeerJob, makePeer, seedRunner } from '../support/ci/fake_runner.ts';
import type { ProjectSeed } from '../support/seed.ts';
import type { TestService } from '../support/service.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- records of the API, that tests assert on
type Seen = any;

export type Upstream = Pushed & {
  peer: Peer;
  newest: () => Promise<Seen>;
  pipeline: (id: number) => Promise<Seen>;
  /** Those of the newest pipeline, or of one, by name: the newest of each. */
  bridges: (pipelineId?: number) => Promise<Record<string, Seen>>;
  children: () => Promise<Seen[]>;
  /** Takes the next job, which ends so. Answers it. */
  run: (status?: 'success' | 'failed') => Promise<PeerJob>;
  post: (path: string, as?: string) => Promise<{ status: number; body: Seen }>;
};

export const makeUpstream = async (gantry: TestService, attributes: ProjectSeed = {}): Promise<Upstream> => {
  const project = await seedPushed(gantry, attributes);
  const runner = await seedRunner(gantry, { runner_type: 'project_type', projects: [project.id] });
  const peer = makePeer(gantry, { token: runner.token });
  const get = async (path: string): Promise<Seen> => (await gantry.api(`GET ${project.path}/${path}`)).body;
  const newest = async () => (await project.pipelines())[0];
  return {
    ...project,
    peer,
    newest,
    pipeline: async (id) => await get(`pipelines/${id}`),
    bridges: async (id) => {
      const all: Seen[] = await get(`pipelines/${id ?? (await newest()).id}/bridges?per_page=100`);
      return Object.fromEntries(all.toReversed().map((bridge) => [bridge.name, bridge]));
    },
    children: async () => await project.pipelines('source=parent_pipeline&sort=asc'),
    run: async (status = 'success') => {
      const job = await peer.take();
      await peer.finish(
        job,
        status,
        status === 'failed' ? { failure_reason: 'script_failure', exit_code: 1 } : {},
      );
      await settle(gantry);
      return job;
    },
    post: async (path, as) => {
      const { status, body } = await gantry.api(
        `POST ${project.path}/${path}`,
        as === undefined ? {} : { as },
      );
      await settle(gantry);
      return { status, body };
    },
  };
};

export const variableOf = ({ body }: PeerJob, key: string): string | undefined =>
  body.variables.find((variable: { key: string }) => variable.key === key)?.value;
