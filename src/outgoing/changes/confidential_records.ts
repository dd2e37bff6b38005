/** Which flags a hook needs for a snapshot. Pure. */
import type { EventFlag } from '../hooks/event_flags.ts';
import type { Plan } from './hook_plans.ts';
import type { Snapshot } from './snapshots/snapshot.ts';

/** Returns whether the issue is confidential, or the comment internal. */
export const isConfidentialRecord = ({ issue, note }: Snapshot['records']): boolean =>
  issue?.confidential === 1 || note?.internal === 1;

/** Flags that a hook must all have to receive the snapshot; none: only hooks of the instance receive it. */
export const listNeededFlags = ({ payload, flags }: Plan, { records }: Snapshot): EventFlag[] => {
  const isConfidential = isConfidentialRecord(records);
  if (payload === 'issue') return [isConfidential ? 'confidential_issues_events' : 'issues_events'];
  if (payload === 'note') return [isConfidential ? 'confidential_note_events' : 'note_events'];
  if (payload !== 'emoji' || !isConfidential) return [...flags];
  return [
    'emoji_events',
    records.note === undefined ? 'confidential_issues_events' : 'confidential_note_events',
  ];
};

/** Returns whether the subject is confidential, which `X-Gitlab-Event` names. */
export const isConfidentialSubject = ({ payload, records }: Snapshot): boolean =>
  (payload === 'issue' || payload === 'note') && isConfidentialRecord(records);
