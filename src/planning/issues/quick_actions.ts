import type { Call } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import { Failure } from '../../platform/errors.ts';
import { findProject } from '../../projects/projects/find.ts';
import type { Acts, LoadedTarget, Noun } from '../issuables/target.ts';
import { type Reference, referencesIn } from '../issuables/text/references.ts';
import { type Editing, executeQuickActions } from '../quick_actions/execute.ts';
import { type LoadedIssue, findIssue, reloadIssue } from './find.ts';
import { findIssueTarget } from './find_target.ts';
import type { LinkType } from './links/link_types.ts';
import { createLink } from './links/links.ts';
import { cloneIssue } from './move/clone.ts';
import { moveIssue } from './move/move.ts';
import { issueNoun } from './noun.ts';
import { updateIssue } from './update.ts';

const toReference = ({ project, target }: LoadedIssue): string => `${project.full_path}#${target.iid}`;

/** Links an issue with another one. @returns the other; null if the caller does not see or may not link it */
const linkWith = async (
  call: Call,
  loaded: LoadedIssue,
  { project, iid }: Reference,
  type: LinkType,
): Promise<LoadedIssue | null> => {
  try {
    const other = await findIssue(call, project, iid);
    await createLink(call, loaded, other, type);
    return other;
  } catch (error) {
    if (error instanceof Failure && error.kind !== 'unavailable') return null;
    throw error;
  }
};

/** The most references of issues that the actions of one comment link. */
const maxLinks = 50;

/** Finds the issues that an argument names. */
const issuesIn = (call: Call, { project }: LoadedTarget, argument: string): Reference[] => {
  const site = { baseUrl: call.baseUrl, project: project.full_path };
  return referencesIn(argument, site).filter(({ type }) => type === 'Issue');
};

const operationsOn = (call: Call, loaded: LoadedTarget): Editing['operations'] => {
  const { project, target } = loaded;
  const reload = async (): Promise<LoadedIssue> => await reloadIssue(call.db, project, target.id);
  let remaining = maxLinks;
  const linking =
    (name: string, type: LinkType) =>
    async (argument: string): Promise<Acts> => {
      const references = issuesIn(call, loaded, argument);
      const chosen = references.slice(0, remaining);
      remaining -= chosen.length;
      const linked: string[] = [];
      const issue = await reload();
      for (const reference of chosen) {
        const other = await linkWith(call, issue, reference, type);
        if (other !== null) linked.push(toReference(other));
      }
      const isCut = chosen.length < references.length;
      return {
        ...(linked.length > 0 && { [name]: linked }),
        ...(isCut && { skipped: { [name]: `One comment can link ${maxLinks} issues.` } }),
      };
    };
  return {
    relate: linking('relate', 'relates_to'),
    blocks: linking('blocks', 'blocks'),
    blocked_by: linking('blocked_by', 'is_blocked_by'),
    move: async (path) => {
      const to = await findProject(call, path);
      return { move: toReference(await moveIssue(call, await reload(), to.id)) };
    },
    clone: async (argument) => {
      const words = argument.split(/\s+/);
      const path = words.find((word) => word !== '' && word !== '--with_notes');
      const to = path === undefined ? project : await findProject(call, path);
      const input = { to_project_id: to.id, with_notes: words.includes('--with_notes') };
      return { clone: toReference(await cloneIssue(call, await reload(), input)) };
    },
  };
};

/** Executes the quick actions of a comment on an issue. */
const act: Noun['act'] = async (call, { project, target }, actions) => {
  const loaded = await reloadIssue(call.db, project, target.id);
  const { issue } = loaded;
  return await executeQuickActions({ noun: issueNoun, call, loaded }, actions, {
    current: {
      state: issue.state,
      title: issue.title,
      assignee_ids: loaded.target.assignee_ids,
      milestone_id: issue.milestone_id,
      labels: issue.labels,
      discussion_locked: issue.discussion_locked === 1,
      confidential: issue.confidential === 1,
      due_date: issue.due_date,
      time_estimate: issue.time_estimate,
      time_spent: issue.total_time_spent,
    },
    mayAdmin: may(call.viewer, 'admin_issue', project),
    edit: async ({ reviewer_ids: _r, review_requested_ids: _a, ...requested }) =>
      await updateIssue(call, loaded, requested),
    operations: operationsOn(call, loaded),
  });
};

/** The issue noun with quick actions, for comments. */
export const commentedIssue: Noun = { ...issueNoun, find: findIssueTarget, act };
