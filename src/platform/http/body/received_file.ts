/** A file of a form, in the shape that handlers of endpoints and pages receive. */
export class ReceivedFile {
  /** Name given by the client; may be a path. */
  readonly name: string;
  readonly content: Buffer;

  constructor(name: string, content: Buffer) {
    this.name = name;
    this.content = content;
  }
}
