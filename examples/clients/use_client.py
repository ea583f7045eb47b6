"""Uses the Python client of OpenAPI Generator as an app does, and prints each result."""

import datetime
import sys
import uuid

import sounds_api
from sounds_api.models import (
    AddFavoriteRequest,
    OfflinePlay,
    PlaysRequest,
    RecoverRequest,
    SignInRequest,
    UpdateCustomerRequest,
    VerifyRequest,
)

url, email, password, category, newer = sys.argv[1:6]


def failure(call, *arguments):
    """Prints the status, the code and the reason of a call that must fail."""
    try:
        call(*arguments)
    except sounds_api.ApiException as error:
        print(error.status, error.data.error.code, error.headers.get("X-Error-Reason", "null"))


client = sounds_api.ApiClient(sounds_api.Configuration(host=url))
auth = sounds_api.AuthApi(client)
sounds = sounds_api.SoundsApi(client)
favorites = sounds_api.FavoritesApi(client)
me = sounds_api.MeApi(client)

session = auth.sign_in(SignInRequest(email=email, password=password)).data
client.configuration.access_token = session.access_token
print("signed in", session.user.email)

ids = []
cursor = None
while True:
    page = sounds.list_sounds(category=category, limit=2, cursor=cursor)
    print("page", len(page.data))
    ids += [sound.id for sound in page.data]
    cursor = page.next_cursor
    if cursor is None:
        break
print("sounds", *ids)

detail = sounds.get_sound(ids[0]).data
print("detail", detail.id, detail.title, detail.audio_url_expires_in)
print("played", sounds.count_play(ids[0]).data.play_count)
favorites.add_favorite(AddFavoriteRequest(sound_id=ids[0]))
for favorite in favorites.list_favorites().data:
    print("favorite", favorite.sound_id, favorite.sounds.title if favorite.sounds else "null")

me.update_customer(UpdateCustomerRequest(phone="+49 170 1234567"))
me.update_customer(UpdateCustomerRequest(full_name=None))
customer = me.get_customer().data
print("customer", customer.full_name or "null", customer.phone, customer.source)

failure(auth.sign_in, SignInRequest(email=email, password="wrong"))
failure(auth.verify, VerifyRequest(type="signup", email=email, code="12345678", password=password))
failure(sounds.get_sound, "00000000-0000-4000-8000-000000000000")
failure(auth.recover, RecoverRequest(email=email))

# Read from a newer service, in which each enumeration has a value that this client does not know.
client.configuration.host = newer
print("providers", len(sounds_api.ConfigApi(client).get_app_config().data.id_token_providers))
print("source", str(me.get_customer().data.source is not None).lower())
print("rules", str(any(section.rule_type for section in sounds_api.HomeApi(client).get_home().sections)).lower())
play = OfflinePlay(id=uuid.uuid4(), sound_id=ids[0], played_at=datetime.datetime.now(datetime.UTC))
print("plays", len(sounds_api.PlaysApi(client).count_plays(PlaysRequest(plays=[play])).data))
print("changes", str(len(sounds_api.CatalogueApi(client).list_catalogue_changes().data) > 0).lower())
