/** A file of a form, as the handler of an endpoint or page receives it. */
export class ReceivedFile {
  /** As the sender named it; could be a path. */
  readonly name: string;
  readonly content: Buffer;

  constructor(name: string, content: Buffer) {
    this.name = name;
    this.content = content;
  }
}
