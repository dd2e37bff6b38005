/** Pushes configurations and reads the pipelines that result. */
import type { SeedCommitOptions } from '../repositories/seed_commits.ts';
import { seedCommit } from '../repositories/seed_commits.ts';
import { settle } from '../seed_merge_requests.ts';
import {
  type ProjectSeed,
  type SeededProject,
  type SeededUser,
  seedMember,
  seedProject,
  seedUser,
} from '../seed.ts';
import type { TestService } from '../service.ts';

export type Pushed = SeededProject & {
  path: string;
  developer: SeededUser;
  /** Commits files, or only a configuration, to a branch and waits for background work. */
  push: (config: string | Record<string, string>, options?: SeedCommitOptions) => Promise<string>;
  // oxlint-disable-next-line typescript/no-explicit-any -- records of the API, that tests assert on
  pipelines: (query?: string) => Promise<any[]>;
  /** Names of the jobs of a pipeline, in order. */
  jobs: (pipelineId: number) => Promise<string[]>;
};

/** An empty project with a developer. */
export const seedPushed = async (gantry: TestService, attributes: ProjectSeed = {}): Promise<Pushed> => {
  const project = await seedProject(gantry, attributes);
  const developer = await seedUser(gantry);
  await seedMember(gantry, { user: developer.id, project: project.id, access_level: 30 });
  const path = `/projects/${project.id}`;
  return {
    ...project,
    developer,
    path,
    push: async (config, options) => {
      const files = typeof config === 'string' ? { '.gitlab-ci.yml': config } : config;
      const sha = await seedCommit(gantry, project.id, files, options);
      await settle(gantry);
      return sha;
    },
    pipelines: async (query = '') => (await gantry.api(`GET ${path}/pipelines?${query}`)).body,
    jobs: async (id) => {
      const rows = await gantry.service.platform.store.db
        .selectFrom('jobs')
        .select('name')
        .where('pipeline_id', '=', id)
        .orderBy('id')
        .execute();
      return rows.map(({ name }) => name);
    },
  };
};
