"""Uses the Python client of OpenAPI Generator as an app does, and prints each result."""

import sys

import sounds_api

url, email, password, category = sys.argv[1:5]


def show(name, call):
    """Prints that a call succeeded, or its status, its code and its reason."""
    try:
        call()
        print(name, "ok")
    except sounds_api.ApiException as error:
        print(name, error.status, error.data.error.code, error.headers.get("X-Error-Reason", "null"))


client = sounds_api.ApiClient(sounds_api.Configuration(host=url))
sounds = sounds_api.SoundsApi(client)
me = sounds_api.MeApi(client)
session = sounds_api.AuthApi(client).sign_in(sounds_api.SignInRequest(email=email, password=password)).data
client.configuration.access_token = session.access_token
print("signed in", session.user.email)

cursor = None
while True:
    page = sounds.list_sounds(category=category, limit=2, cursor=cursor)
    print("page", *[sound.title for sound in page.data])
    cursor = page.next_cursor
    if cursor is None:
        break

me.update_customer(sounds_api.UpdateCustomerRequest(phone="+49 170 1234567", full_name=None))
customer = me.get_customer().data
print("customer", customer.full_name or "null", customer.phone)

# EVERY CALL
