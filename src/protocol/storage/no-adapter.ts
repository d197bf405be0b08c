/** An adapter that stores and finds nothing: the defaults for the parts of oidc-provider's contract that a model does not need. */
import type { Adapter, AdapterPayload } from '../library/oidc-provider.ts';

export class NoAdapter implements Adapter {
  async upsert(_id: string, _payload: AdapterPayload, _expiresIn: number): Promise<void> {}

  async find(_id: string): Promise<AdapterPayload | undefined> {
    return undefined;
  }

  async findByUid(_uid: string): Promise<AdapterPayload | undefined> {
    return undefined;
  }

  async findByUserCode(_userCode: string): Promise<AdapterPayload | undefined> {
    return undefined;
  }

  async consume(_id: string): Promise<void> {}
  async destroy(_id: string): Promise<void> {}
  async revokeByGrantId(_grantId: string): Promise<void> {}
}
