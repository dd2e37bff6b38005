/** Shows errors to signed-in users: keeps the frame of the page, and a refusal lists people who can give access. */
import type { FastifyRequest } from 'fastify';
import { may, mayInGroup } from '../../../core/access/may.ts';
import type { Call } from '../../../core/access/call.ts';
import { findGroup } from '../../../identity/groups/find.ts';
import { Failure } from '../../../platform/errors.ts';
import { type Responsible, loadResponsible } from '../../../projects/members/load_responsible.ts';
import { findProject } from '../../../projects/projects/find.ts';
import type { View } from '../page.ts';
import { errorView } from '../parts/frame/error_page.ts';
import { backOf, reasonOf } from './failure_page.ts';

/** Kinds that are shown in the frame. The others are answered before there is a user, or with further headers. */
const framed = new Set<Failure['kind']>(['forbidden', 'not_found']);

const maxPeople = 3;

/** Loads the people responsible for the project or group of a path, if the caller sees its members. */
const loadPeople = async (call: Call, { params }: FastifyRequest): Promise<Responsible[]> => {
  const { project: projectPath, group: groupPath } = params as { project?: string; group?: string };
  const some = { now: call.now, limit: maxPeople };
  try {
    if (projectPath !== undefined) {
      const project = await findProject(call, projectPath);
      const { id: project_id, namespace_id } = project;
      if (!may(call.viewer, 'read_member', project)) return [];
      return await loadResponsible(call.db, { project_id, namespace_id }, some);
    }
    if (groupPath === undefined) return [];
    const group = await findGroup(call, groupPath);
    if (!mayInGroup(call.viewer, 'read_group_member', group)) return [];
    return await loadResponsible(call.db, { project_id: null, namespace_id: group.id }, some);
  } catch (error) {
    if (error instanceof Failure) return [];
    throw error;
  }
};

/** Returns the view of an error; null if it is not a refusal, or nobody is signed in. */
export const toErrorView = async (
  call: Call,
  request: FastifyRequest,
  error: unknown,
): Promise<View | null> => {
  if (!(error instanceof Failure) || !framed.has(error.kind) || !call.signedIn) return null;
  const { status } = error;
  const people = error.kind === 'forbidden' ? await loadPeople(call, request) : [];
  const wrong = { status, reason: reasonOf(error), requestId: request.id, back: backOf(request) };
  return errorView(wrong, people);
};
