// Uses the Kotlin client of OpenAPI Generator as an app does, and prints each result.
package sounds.client

import java.util.UUID
import okhttp3.MediaType.Companion.toMediaType
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.RequestBody.Companion.toRequestBody
import sounds.client.apis.*
import sounds.client.infrastructure.*
import sounds.client.models.*

inline fun <reified Body> body(json: String): Body = Serializer.kotlinxSerializationJson.decodeFromString(json)

/** Prints that a call succeeded, or its status, its code and its reason. */
fun show(name: String, call: () -> Any?) {
    try {
        call()
        println("$name ok")
    } catch (error: ClientException) {
        val answer = error.response as ClientError<*>
        val code = Regex("\"code\":\"(\\w+)\"").find(answer.body.toString())?.groupValues?.get(1)
        println("$name ${error.statusCode} $code ${answer.headers["x-error-reason"]?.single()}")
    }
}

/** Clears a field with an explicit null, which the generated client cannot send. */
fun clear(url: String, field: String) {
    val request = Request.Builder()
        .url("$url/me/customer")
        .header("Authorization", "Bearer ${ApiClient.accessToken}")
        .patch("""{"$field":null}""".toRequestBody("application/json".toMediaType()))
        .build()
    OkHttpClient().newCall(request).execute().use { check(it.isSuccessful) }
}

fun main(args: Array<String>) {
    val (url, email, password, category) = args
    Serializer.kotlinxSerializationJsonConfiguration = { encodeDefaults = false }
    val session = AuthApi(url).signIn(SignInRequest(email, password)).data
    ApiClient.accessToken = session.accessToken
    println("signed in ${session.user.email}")

    var cursor: String? = null
    do {
        val page = SoundsApi(url).listSounds(category = category, limit = 2, cursor = cursor)
        println("page ${page.`data`.joinToString(" ") { it.title }}")
        cursor = page.nextCursor
    } while (cursor != null)

    MeApi(url).updateCustomer(UpdateCustomerRequest(phone = "+49 170 1234567"))
    clear(url, "full_name")
    val customer = MeApi(url).getCustomer().data
    println("customer ${customer.fullName} ${customer.phone}")

    // EVERY CALL
}
