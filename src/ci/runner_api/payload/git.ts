/** Builds the `git_info` of a payload: what the runner fetches, and how deep. Pure. */
import type { Selectable } from 'kysely';
import type { PipelinesTable } from '../../../platform/db/schema/ci.ts';
import { repositoryUrl } from '../../pipelines/predefined_variables/job_predefined.ts';
import { pipelineRefName } from '../../pipelines/creation/persistent_ref.ts';

export type PayloadGit = {
  repo_url: string;
  repo_object_format: 'sha1';
  ref: string;
  sha: string;
  before_sha: string;
  ref_type: 'branch' | 'tag';
  refspecs: string[];
  depth: number;
  protected: boolean;
};

type Built = Pick<Selectable<PipelinesTable>, 'id' | 'ref' | 'tag' | 'sha' | 'before_sha' | 'protected'>;

const refspec = (from: string, to: string): string => `+${from}:${to}`;

/** Refspecs, by name. With a depth, only the job's ref, because a shallow history needs no other branches. */
const listRefspecs = ({ ref, tag }: Built, depth: number): string[] => {
  const name = depth === 0 ? '*' : ref;
  const tags = refspec(`refs/tags/${name}`, `refs/tags/${name}`);
  const branches = refspec(`refs/heads/${name}`, `refs/remotes/origin/${name}`);
  if (depth === 0) return [branches, tags];
  // A merge request's commit is reachable through the pipeline's own ref.
  if (ref.startsWith('refs/')) return [];
  return [tag === 1 ? tags : branches];
};

export const buildPayloadGit = (
  pipeline: Built,
  {
    depth,
    base_url,
    full_path,
    token,
  }: { depth: number; base_url: string; full_path: string; token: string },
): PayloadGit => {
  const own = pipelineRefName(pipeline.id);
  return {
    repo_url: repositoryUrl(base_url, full_path, token),
    repo_object_format: 'sha1',
    ref: pipeline.ref,
    sha: pipeline.sha,
    before_sha: pipeline.before_sha,
    ref_type: pipeline.tag === 1 ? 'tag' : 'branch',
    refspecs: [refspec(own, own), ...listRefspecs(pipeline, depth)],
    depth,
    protected: pipeline.protected === 1,
  };
};
