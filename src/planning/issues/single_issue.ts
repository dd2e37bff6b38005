import { type Call, requireUser } from '../../core/access/call.ts';
import type { LoadedTarget } from '../issuables/target.ts';
import { isSubscribed } from '../subscriptions/subscriptions.ts';
import { type LoadedIssue, reloadIssue } from './find.ts';
import { singleIssueJson } from './json.ts';
import { limitToViewer } from './viewer_fields.ts';

/** JSON of one issue as the caller sees it. @param subscribed whether the caller gets notifications of it */
export const singleJson = (call: Call, { project, issue }: LoadedIssue, subscribed: boolean) =>
  singleIssueJson(limitToViewer(call.viewer, project, issue), call, subscribed);

/** JSON of one issue, with whether the caller is subscribed. */
export const single = async (call: Call, loaded: LoadedIssue) =>
  singleJson(call, loaded, await isSubscribed(call.db, requireUser(call).id, loaded.target));

/** JSON of an issue after a change. */
export const reloaded = async (call: Call, { project, target }: LoadedTarget) =>
  await single(call, await reloadIssue(call.db, project, target.id));
