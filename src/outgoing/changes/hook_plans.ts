/** Lists what hooks receive for a change, by its kind. Pure. */
import type { RecordedChange } from '../../core/events/record_event.ts';
import type { EventFlag } from '../hooks/event_flags.ts';

export type PayloadKind =
  | 'push'
  | 'tag_push'
  | 'issue'
  | 'merge_request'
  | 'note'
  | 'emoji'
  | 'pipeline'
  | 'job'
  | 'release'
  | 'deployment'
  | 'member'
  | 'repository_update'
  | 'system';

export type Plan = {
  payload: PayloadKind;
  /** Hooks with one of these flags; which of them applies to a confidential subject is decided with its snapshot. */
  flags: readonly EventFlag[];
  /** Also all hooks of the instance. */
  system: boolean;
  /** Changes with the same target are delivered in order. */
  target: string;
};

const planFor = (
  payload: PayloadKind,
  flags: readonly EventFlag[],
  { target_type, target_id }: RecordedChange,
): Plan => ({ payload, flags, system: false, target: `${target_type} ${target_id}` });

const issueFlags = ['issues_events', 'confidential_issues_events'] as const;
const noteFlags = ['note_events', 'confidential_note_events'] as const;

const refPlans = (change: RecordedChange): Plan[] => {
  const { ref } = change.data as { ref: string };
  const target = `Ref ${change.project_id} ${ref}`;
  const update = { ...planFor('repository_update', ['repository_update_events'], change), target };
  if (ref.startsWith('refs/heads/')) return [{ ...planFor('push', ['push_events'], change), target }, update];
  return ref.startsWith('refs/tags/')
    ? [{ ...planFor('tag_push', ['tag_push_events'], change), target }, update]
    : [];
};

const subjectVerbs = ['created', 'updated', 'closed', 'reopened', 'moved', 'time_tracked'];
const mergeRequestVerbs = [
  ...subjectVerbs,
  'merged',
  'pushed',
  'approved',
  'unapproved',
  'requested_changes',
];

const system = (change: RecordedChange): Plan[] => [{ ...planFor('system', [], change), system: true }];

type Planner = (change: RecordedChange, verb: string) => Plan[];

const planners: Record<string, Planner> = {
  ref: refPlans,
  issue: (change, verb) => (subjectVerbs.includes(verb) ? [planFor('issue', issueFlags, change)] : []),
  merge_request: (change, verb) =>
    mergeRequestVerbs.includes(verb) ? [planFor('merge_request', ['merge_requests_events'], change)] : [],
  note: (change, verb) => (verb === 'deleted' ? [] : [planFor('note', noteFlags, change)]),
  commit_comment: (change, verb) => (verb === 'deleted' ? [] : [planFor('note', ['note_events'], change)]),
  award_emoji: (change) => [planFor('emoji', ['emoji_events'], change)],
  release: (change) =>
    change.target_type === 'Release' ? [planFor('release', ['releases_events'], change)] : [],
  deployment: (change, verb) =>
    verb === 'deleted' ? [] : [planFor('deployment', ['deployment_events'], change)],
  pipeline: (change, verb) => (verb === 'status' ? [planFor('pipeline', ['pipeline_events'], change)] : []),
  job: (change, verb) => (verb === 'status' ? [planFor('job', ['job_events'], change)] : []),
  member: (change) => [{ ...planFor('member', ['member_events'], change), system: true }],
  project: (change, verb) =>
    ['created', 'updated', 'removed', 'transferred', 'archived', 'unarchived'].includes(verb)
      ? system(change)
      : [],
  user: (change, verb) =>
    ['created', 'updated', 'deleted', 'login_failed'].includes(verb) ? system(change) : [],
  group: (change, verb) =>
    ['created', 'updated', 'transferred', 'removed', 'deleted'].includes(verb) ? system(change) : [],
  key: (change, verb) => (['created', 'deleted'].includes(verb) ? system(change) : []),
};

/** Returns what a change triggers, whatever hooks exist. */
export const makePlans = (change: RecordedChange): Plan[] => {
  const [noun = '', verb = ''] = change.kind.split('.');
  return Object.hasOwn(planners, noun) ? (planners[noun]?.(change, verb) ?? []) : [];
};
