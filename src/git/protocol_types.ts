/** What a repository storage answers, for the rest of the service. */
export type {
  ActionProblem,
  AnswerPush,
  AnswerTold,
  AskPush,
  Client,
  Commit,
  CommitAction,
  CommitWalk,
  DiffLimits,
  FileDiff,
  GitErrorKind,
  Method,
  Methods,
  Oid,
  PushedRef,
  Quota,
  Ref,
  RefUpdate,
  Sight,
  Signature,
  Stream,
  Streams,
  TellPush,
} from '../../gitd/protocol.ts';
export type { StorageState } from '../../gitd/storage/marker.ts';
export { protocolVersion, zeroOid } from '../../gitd/protocol.ts';
