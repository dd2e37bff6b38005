/** What the rules of a configuration ask of a new pipeline. */
import type { Platform } from '../access/call.ts';
import type { Conditions } from '../ci_file/conditions.ts';
import { type Commit, type Oid, zeroOid } from '../git/protocol_types.ts';
import type { PipelineSource } from '../db/schema_ci.ts';
import type { Code } from '../repository/code.ts';
import { variablesForJob } from '../variables/queries.ts';
import { changedPaths } from './changed_paths.ts';
import { type ReadLeft, pathsOf } from './ci_files.ts';
import { type GivenVariable, asValues } from './given_variables.ts';
import { openRequestsText } from './merge_request_facts.ts';
import { type MergeRequestFacts, type PipelineRef, predefinedVariables } from './predefined.ts';
import type { Maker } from './rights.ts';
import { serverVariables } from './server_variables.ts';

export type Occasion = {
  code: Code;
  ref: PipelineRef;
  commit: Commit;
  before_sha: Oid;
  source: PipelineSource;
  isProtected: boolean;
  maker: Maker | null;
  variables: readonly GivenVariable[];
  merge_request?: MergeRequestFacts;
  /** Of a part of another pipeline, which may include what jobs there left. */
  left?: ReadLeft;
};

const predefinedOf = async (
  { store: { db }, config, version }: Platform,
  occasion: Occasion,
): Promise<Record<string, string>> => {
  const { code, ref, maker, merge_request } = occasion;
  const open_requests =
    ref.type === 'tag' ? '' : await openRequestsText(db, code.project.id, ref.name, maker?.viewer);
  const facts = { ...occasion, project: code.project, user: maker, open_requests };
  return {
    ...(config.external_url !== null && serverVariables(config.external_url, version)),
    ...predefinedVariables({ ...facts, ...(merge_request && { merge_request }) }),
  };
};

/** Of a merge request, what counts as there before is where it began. */
const comparedTo = ({ before_sha, merge_request }: Occasion): Oid =>
  merge_request?.base_sha || before_sha || zeroOid;

export const conditionsFor = async (platform: Platform, occasion: Occasion): Promise<Conditions> => {
  const { code, ref, commit, source, isProtected, variables } = occasion;
  const { project } = code;
  const kept = await variablesForJob(platform, project, { isProtected, environment: null });
  return {
    source,
    ref: ref.name,
    ref_type: ref.type,
    project_path: project.full_path,
    predefined: await predefinedOf(platform, occasion),
    variables: { ...asValues(kept), ...asValues(variables) },
    files: async () => await pathsOf({ code, commit: commit.id }),
    changed: changedPaths(code, commit.id, comparedTo(occasion)),
  };
};
