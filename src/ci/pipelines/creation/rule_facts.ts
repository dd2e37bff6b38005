/** Builds the conditions that a configuration's rules are evaluated against. */
import type { Platform } from '../../../core/platform.ts';
import type { Conditions } from '../../ci_file/conditions.ts';
import { type Commit, type Oid, zeroOid } from '../../../platform/git/protocol_types.ts';
import type { PipelineSource } from '../../../platform/db/schema/ci.ts';
import type { Code } from '../../../code/repository/find_code.ts';
import { variablesForJob } from '../../variables/queries.ts';
import { changedPathsLoader } from './changed_paths.ts';
import { type ReadArtifactText, listPaths } from '../config/ci_files.ts';
import { type PipelineVariable, toValueMap } from './pipeline_variables.ts';
import { loadOpenRequestsText } from './merge_request_facts.ts';
import {
  type MergeRequestFacts,
  type PipelineRef,
  toPredefinedVariables,
} from '../predefined_variables/pipeline_predefined.ts';
import type { PipelineCreator } from './creation_rights.ts';
import { toServerVariables } from '../predefined_variables/server_variables.ts';

export type PipelineContext = {
  code: Code;
  ref: PipelineRef;
  commit: Commit;
  before_sha: Oid;
  source: PipelineSource;
  isProtected: boolean;
  creator: PipelineCreator | null;
  variables: readonly PipelineVariable[];
  merge_request?: MergeRequestFacts;
  /** Set for a child pipeline, which may include artifacts of its parent's jobs. */
  readArtifact?: ReadArtifactText;
};

const loadPredefinedVariables = async (
  { store: { db }, config, version }: Platform,
  context: PipelineContext,
): Promise<Record<string, string>> => {
  const { code, ref, creator, merge_request } = context;
  const open_requests =
    ref.type === 'tag' ? '' : await loadOpenRequestsText(db, code.project.id, ref.name, creator?.viewer);
  const facts = { ...context, project: code.project, user: creator, open_requests };
  return {
    ...(config.external_url !== null && toServerVariables(config.external_url, version)),
    ...toPredefinedVariables({ ...facts, ...(merge_request && { merge_request }) }),
  };
};

/** Returns the commit that changes are compared with: for a merge request, its base. */
const getBaseCommit = ({ before_sha, merge_request }: PipelineContext): Oid =>
  merge_request?.base_sha || before_sha || zeroOid;

export const buildConditions = async (platform: Platform, context: PipelineContext): Promise<Conditions> => {
  const { code, ref, commit, source, isProtected, variables } = context;
  const { project } = code;
  const projectVariables = await variablesForJob(platform, project, { isProtected, environment: null });
  return {
    source,
    ref: ref.name,
    ref_type: ref.type,
    project_path: project.full_path,
    predefined: await loadPredefinedVariables(platform, context),
    variables: { ...toValueMap(projectVariables), ...toValueMap(variables) },
    files: async () => await listPaths({ code, commit: commit.id }),
    changed: changedPathsLoader(code, commit.id, getBaseCommit(context)),
  };
};
