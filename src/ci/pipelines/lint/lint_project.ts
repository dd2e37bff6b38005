/** Validates configurations in the context of a project: the file of a commit, or a text. */
import type { Call } from '../../../core/access/call.ts';
import { may } from '../../../core/access/may.ts';
import { forbidden } from '../../../platform/errors.ts';
import type { Code } from '../../../code/repository/find_code.ts';
import { refusal } from '../../../code/repository/refs/resolve.ts';
import { type Origin, readProjectConfig } from '../config/ci_files.ts';
import { type Lint, type SimulatedRef, lint, resolveOrigin } from './lint.ts';

export type ProjectLint = {
  lint: Lint;
  /** The validated text; null if the file is not text, or too large. */
  content: string | null;
  /** null if the repository is empty. */
  origin: Origin | null;
};

const requireOrigin = async (
  code: Code,
  revision: string | undefined,
): Promise<{ origin: Origin; simulatedRef: SimulatedRef }> => {
  const resolved = await resolveOrigin(code, revision);
  if (resolved === null) throw refusal('not_found', '404 Commit Not Found');
  return resolved;
};

type FileRequest = {
  /** Commit, branch or tag of the file; undefined: the default branch. */
  content_ref: string | undefined;
  /** Branch or tag for which rules are evaluated; undefined: the ref of the file. */
  dry_run_ref: string | undefined;
  dry_run: boolean;
};

/** @throws Failure 403, 404 */
export const lintProjectFile = async (
  call: Call,
  code: Code,
  { content_ref, dry_run_ref, dry_run }: FileRequest,
): Promise<ProjectLint> => {
  if (dry_run && !may(call.viewer, 'lint_ci', code.project)) throw forbidden();
  const { origin, simulatedRef } = await requireOrigin(code, content_ref);
  const target =
    dry_run_ref === undefined ? simulatedRef : (await requireOrigin(code, dry_run_ref)).simulatedRef;
  const read = await readProjectConfig(origin);
  const content = 'text' in read ? read.text : read.problem === 'missing' ? '' : null;
  return { lint: await lint(call, { content, origin, simulatedRef: target, dry_run }), content, origin };
};

type TextRequest = {
  content: string;
  /** Branch or tag for which rules are evaluated and whose files are included; undefined: the default branch. */
  ref: string | undefined;
  dry_run: boolean;
};

/** @throws Failure 404 */
export const lintProjectText = async (
  call: Call,
  code: Code,
  { content, ref, dry_run }: TextRequest,
): Promise<ProjectLint> => {
  const resolved = ref === undefined ? await resolveOrigin(code, ref) : await requireOrigin(code, ref);
  const simulatedRef = resolved?.simulatedRef ?? {
    ref: code.project.default_branch ?? 'main',
    ref_type: 'branch' as const,
  };
  const origin = resolved?.origin ?? null;
  return { lint: await lint(call, { content, origin, simulatedRef, dry_run }), content, origin };
};
