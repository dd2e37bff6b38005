/** Builds the payload of a snapshot, and names its event. */
import type { Platform } from '../../core/platform.ts';
import { isConfidentialSubject } from '../changes/confidential_records.ts';
import type { PayloadKind } from '../changes/hook_plans.ts';
import type { Snapshot } from '../changes/snapshots/snapshot.ts';
import { deploymentPayload, jobPayload, pipelinePayload } from './ci.ts';
import { type Context, type Payload, makeContext } from './context.ts';
import { issuePayload, mergeRequestPayload } from './issue.ts';
import { emojiPayload, notePayload } from './note.ts';
import { memberPayload, systemPayload } from './members_and_system_events.ts';
import { pushPayload, repositoryUpdatePayload } from './push.ts';
import { releasePayload } from './release.ts';

const builders: Record<PayloadKind, (context: Context) => Payload | Promise<Payload>> = {
  push: pushPayload,
  tag_push: pushPayload,
  issue: issuePayload,
  merge_request: mergeRequestPayload,
  note: notePayload,
  emoji: emojiPayload,
  pipeline: pipelinePayload,
  job: jobPayload,
  release: releasePayload,
  deployment: deploymentPayload,
  member: memberPayload,
  repository_update: repositoryUpdatePayload,
  system: systemPayload,
};

export const buildPayload = async (platform: Platform, snapshot: Snapshot): Promise<Payload> =>
  await builders[snapshot.payload](makeContext(platform, snapshot));

const eventNames: Record<PayloadKind, string> = {
  push: 'Push Hook',
  tag_push: 'Tag Push Hook',
  issue: 'Issue Hook',
  merge_request: 'Merge Request Hook',
  note: 'Note Hook',
  emoji: 'Emoji Hook',
  pipeline: 'Pipeline Hook',
  job: 'Job Hook',
  release: 'Release Hook',
  deployment: 'Deployment Hook',
  member: 'Member Hook',
  repository_update: 'Repository Update Hook',
  system: 'System Hook',
};

/** Returns `X-Gitlab-Event`. */
export const getEventName = (snapshot: Snapshot, isSystemHook: boolean): string => {
  if (isSystemHook) return 'System Hook';
  const name = eventNames[snapshot.payload];
  return isConfidentialSubject(snapshot) ? `Confidential ${name}` : name;
};
